"""A user's program is type-checked against the installed package, which says that it has types (`py.typed`)."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import pegasos.datasets
import pegasos.io
import pegasos.sequence
import pegasos.solvers

pytest.importorskip("mypy")

PROGRAM = Path(__file__).parent / "typed_program.py"

#: Mistakes that a checker should find, and what it says of them.
MISTAKES = {
    "LinearSVC(C='large')": 'Argument "C" to "LinearSVC" has incompatible type "str"',
    "LinearSVC(nonsense=1)": 'Unexpected keyword argument "nonsense" for "LinearSVC"',
    "SVC(gama=1.0)": 'Unexpected keyword argument "gama" for "SVC"',
    "solvers.SDCA(ordering='blocks')": 'Unexpected keyword argument "ordering" for "SDCA"',
    "LinearSVC().fit([[1.0]], [1]).weights_": '"LinearSVC" has no attribute "weights_"',
    "SVC(tol=None)": 'Argument "tol" to "SVC" has incompatible type "None"',
    "LinearSVC().fit([[1.0]], [1]).certificate_.gap.upper()": '"float" has no attribute "upper"',
    "Checkpoint('folder', often=3)": 'Unexpected keyword argument "often" for "Checkpoint"',
    "solvers.Pegasos(batch_size='four')": 'Argument "batch_size" to "Pegasos" has incompatible type "str"',
    "io.open_dataset('a', memory=3)": 'Unexpected keyword argument "memory" for "open_dataset"',
    "listen(3).__enter__()": 'Argument 1 to "listen" has incompatible type "int"',
}


def check(path, folder):
    """What mypy says, without the settings of this project and outside of it."""
    options = ["--strict", "--config-file=", "--cache-dir", str(folder / "cache")]
    command = [sys.executable, "-m", "mypy", *options, str(path)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_program_has_every_public_name():
    words = set(re.findall(r"\w+", PROGRAM.read_text(encoding="utf-8")))
    for package in (pegasos, pegasos.io, pegasos.solvers, pegasos.datasets, pegasos.sequence):
        assert set(package.__all__) - words == set()


def test_the_program_runs():
    done = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_types(tmp_path):
    done = check(PROGRAM, tmp_path)
    assert done.returncode == 0, done.stdout
    wrong = tmp_path / "wrong.py"
    lines = "\n".join(MISTAKES)
    wrong.write_text(f"from pegasos import SVC, Checkpoint, LinearSVC, io, listen, solvers\n\n{lines}\n")
    found = check(wrong, tmp_path).stdout
    for number, message in enumerate(MISTAKES.values(), 3):
        assert re.search(rf"wrong.py:{number}: error: .*{re.escape(message)}", found), found
