"""What importing costs, and which build of the core is chosen."""

import os
import subprocess
import sys

import pytest

import pegasos
from pegasos import _core


def python(code, **environment):
    """The code in an interpreter of its own."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=os.environ | environment)


@pytest.fixture(scope="module")
def imported():
    """What ``from pegasos import *`` imports beyond ``sklearn.svm`` (which takes pandas along where it is there)."""
    code = (
        "import sys, sklearn.svm; before = set(sys.modules); from pegasos import *; print(*set(sys.modules) - before)"
    )
    done = python(code)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_import_leaves_the_rest_alone(imported):
    assert "pegasos.linear.svc" in imported
    packages = {name.partition(".")[0] for name in imported}
    assert not packages & {"rich", "click", "safetensors", "matplotlib", "pandas", "dask", "cupy", "onnx", "pytest"}


def test_show_config(capsys):
    pegasos.show_config()
    facts = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert facts["pegasos"] == pegasos.__version__
    assert facts["core"].startswith(_core.native.level)
    assert int(facts["threads"]) >= 1
    for package in ("python", "numpy", "scipy", "scikit-learn"):
        assert facts[package][0].isdigit()


def test_the_best_build_is_chosen():
    done = python("from pegasos import _core; print(_core.native.level)", PEGASOS_ISA="")
    assert done.stdout.strip() == _core.available()[0]


FIT = """
import pegasos
pegasos.show_config()
X, y = pegasos.datasets.make_text(500, 300, random_state=0)
print(*pegasos.LinearSVC(tol=0, max_iter=5, random_state=0).fit(X, y).coef_[0])
"""


def test_the_environment_overrides_the_build_and_builds_agree():
    """To rounding: instruction sets differ in the order of sums."""
    results = []
    for level in _core.available():
        done = python(FIT, PEGASOS_ISA=level)
        assert done.returncode == 0, done.stderr
        assert f"core: {level} " in done.stdout
        results.append([float(w) for w in done.stdout.splitlines()[-1].split()])
    assert len(results[0]) == 300
    for result in results[1:]:
        assert result == pytest.approx(results[0], rel=1e-6, abs=1e-9)


def test_a_build_that_does_not_exist():
    done = python("from pegasos import LinearSVC", PEGASOS_ISA="v9")
    assert done.returncode != 0
    message = done.stderr.splitlines()[-1]
    assert message.startswith("ImportError: PEGASOS_ISA='v9'")
    assert _core.available()[0] in message
    assert "unset it" in message


def test_a_build_of_another_processor(monkeypatch):
    monkeypatch.setattr(_core.cpu, "levels", lambda: ["v1"])
    with pytest.raises(ImportError, match="this processor runs v1; build it on this machine"):
        _core.choose()


def test_public_names():
    for name in pegasos.__all__:
        assert hasattr(pegasos, name)
