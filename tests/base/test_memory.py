"""What is needed and not there is refused before it is taken."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import SVC, LinearSVC, SequenceSVC
from pegasos.base import memory


@pytest.fixture
def little(monkeypatch):
    """150 MB are free."""
    monkeypatch.setattr(memory, "_available", lambda: 150_000_000)


def test_a_small_need_is_not_looked_at(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 0)
    memory.refuse_beyond(1e7, "a vector", "leave it out")
    with pytest.raises(MemoryError, match=r"a table needs 0.2 GB, and 0 are free; leave it out"):
        memory.refuse_beyond(2e8, "a table", "leave it out")


def test_control_groups(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_available", lambda: 10**12)
    monkeypatch.setattr(memory, "_address_space", lambda: None)
    (tmp_path / "memory.max").write_text("1000000000\n")
    (tmp_path / "memory.current").write_text("700000000\n")
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 200000000\n")
    monkeypatch.setattr(
        memory,
        "_groups",
        lambda: [(str(tmp_path), "memory.max", "memory.current", "inactive_file"), ("/none", "", "", "")],
    )
    assert memory.free_memory() == 500_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.free_memory() == 10**12


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_weights_of_many_classes(little, multi_class):
    X, y = sp.csr_matrix((np.ones(30), (np.arange(30), np.arange(30))), (30, 2_000_000)), np.arange(30) % 15
    with pytest.raises(MemoryError, match=r"15 classes.* needs 0.\d+ GB, and 0.15 are free"):
        LinearSVC(multi_class=multi_class).fit(X, y)


def test_weights_of_features_with_large_numbers(little):
    X = sp.csr_matrix((np.ones(4), [0, 1, 2, 19_999_999], [0, 1, 2, 3, 4]), (4, 20_000_000))
    with pytest.raises(
        MemoryError, match=r"X has 20,000,000 features, .* needs 0.32 GB, and 0.15 are free; number them"
    ):
        LinearSVC().fit(X, [0, 1, 0, 1])


def test_the_command_tells_what_is_needed(little, tmp_path, monkeypatch, pegasos):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "far.svm").write_text("1 1:1\n-1 20000000:1\n")
    code, _, err = pegasos("train far.svm m")
    assert code == 2
    assert err.startswith("pegasos: X has 20,000,000 features, and a fit")


def test_a_scaled_copy(little):
    X = np.ones((1000, 20_000), dtype=np.float32)
    with pytest.raises(MemoryError, match=r"scale=True copies X in double precision, which needs 0.16 GB"):
        LinearSVC(scale=True).fit(X, np.arange(1000) % 2)


def test_labels_of_sequences(little):
    y = [[f"l{k}"] for k in range(100)]
    with pytest.raises(MemoryError, match="lower hash_bits"):
        SequenceSVC(hash_bits=20).fit([[["a"]]] * 100, y)


def test_rows_of_the_kernel_take_what_is_there(little):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 5)), np.arange(300) % 2
    few, many = SVC(cache_size=1e9).fit(X, y), SVC(cache_size=50).fit(X, y)
    np.testing.assert_allclose(few.dual_coef_, many.dual_coef_)


def test_limits_of_the_address_space():
    script = "import resource; from pegasos.base.memory import free_memory\n"
    script += (
        "resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, resource.RLIM_INFINITY)); print(free_memory() < 8 * 2**30)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
