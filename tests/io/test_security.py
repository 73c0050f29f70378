"""What SECURITY.md says of files: no code runs, nothing else is opened, and memory is bounded by the file."""

import ast
import json
import os
import subprocess
import sys
import textwrap
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save

import pegasos
from pegasos import SVC, LinearSVC
from pegasos.io import load_model, save_model
from pegasos.io.dataset import HEADER, TYPES
from pegasos.io.model import _checksum

RUNNING = ("pickle", "marshal", "exec", "compile", "import", "subprocess", "socket", "ctypes", "os.exec", "os.fork")
MODULES = {
    *("pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "subprocess", "socket", "urllib", "http"),
    *("requests", "runpy", "code"),
}
GOLDEN = Path(__file__).parents[1] / "golden"


def test_the_source_has_nothing_that_runs_what_it_reads():
    """No module unpickles, evaluates or runs text, and none but Dask's talks to others."""
    wrong = []
    for path in Path(pegasos.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif isinstance(node, ast.Call):
                names = [f"{ast.unparse(node.func)}()"]
            for name in names:
                if name.partition(".")[0] in MODULES:
                    wrong.append(f"{path}: {name}")
                if name in ("eval()", "exec()", "compile()", "np.load()", "joblib.load()", "os.system()"):
                    script = path.name == "__main__.py" and name in ("exec()", "compile()")  # that the user names
                    wrong += [] if script else [f"{path}: {name}"]
    assert not wrong


def test_what_reading_files_does():
    """Every kind of model and data set is read and used while the interpreter reports what it does."""
    script = f"""
        import json, os, sys, warnings
        from pathlib import Path
        from pegasos.io import load_model, open_dataset
        warnings.simplefilter("ignore")
        folders = [path for path in Path({str(GOLDEN)!r}).iterdir() if (path / "expected.json").exists()]
        seen, watching = set(), False

        def watch(event, arguments):
            if watching:
                what = str(arguments[0]) if event == "open" else ""
                if event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR):
                    what = "to write: " + what
                seen.add((event, what))

        sys.addaudithook(watch)

        def read():
            for folder in folders:
                for path in folder.glob("*.model"):
                    load_model(path)
                for path in folder.glob("*.ds"):
                    open_dataset(path).load()

        read()  # which imports what it needs
        watching = True
        read()
        watching = False
        print(json.dumps(sorted(seen)))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    for event, what in seen:
        assert not event.startswith(RUNNING)
        if event == "open":
            in_data_set = what in (HEADER, *TYPES)  # opened through its folder
            assert what.startswith(str(GOLDEN)) or what.isdigit() or in_data_set, what
    assert ("open", str(GOLDEN / "0.1.0" / "kernel.model")) in map(tuple, seen)


def changed(source, path, change):
    """The model of a file with another header and other tensors, and a checksum that is right."""
    with safe_open(source, framework="numpy") as file:
        header, tensors = json.loads(file.metadata()["header"]), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    change(header, tensors)
    text = json.dumps(header)
    metadata = {"format": "pegasos-model", "version": "1", "header": text, "checksum": _checksum(tensors, text)}
    path.write_bytes(save(tensors, metadata=metadata))
    return path


def test_a_file_does_not_choose_where_a_fit_writes(tmp_path):
    target = tmp_path / "elsewhere"
    path = changed(
        GOLDEN / "0.1.0" / "linear.model",
        tmp_path / "m",
        lambda header, _: header["parameters"].update(checkpoint=str(target)),
    )
    with pytest.raises(ValueError, match=r"m: LinearSVC has no parameter 'checkpoint' in model files"):
        load_model(path)


def test_a_newer_file_says_so(tmp_path):
    def change(header, _):
        header["pegasos"] = "99.0"
        header["parameters"]["new"] = 1

    path = changed(GOLDEN / "0.1.0" / "linear.model", tmp_path / "m", change)
    with pytest.raises(ValueError, match=r"no parameter 'new' in model files; pegasos 99.0 wrote it, and this is"):
        load_model(path)


@pytest.mark.parametrize("rows", [0, 1])
def test_a_small_file_takes_little_memory(tmp_path, rows):
    """It claims to have billions of weights."""

    def change(header, tensors):
        header["stream"]["features"] = 2**31 - 2
        for k in range(3):
            tensors[f"stream.{k}.vectors"] = np.empty((rows, 2**31 - 1 if rows == 0 else 5))

    path = changed(GOLDEN / "0.1.0" / "linear-stream-pegasos.model", tmp_path / "m", change)
    with pytest.raises(ValueError, match=r"stream of \d+ numbers and 0 vectors|'stream.0.vectors' is"):
        load_model(path)


@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_memory_is_bounded_by_the_file(tmp_path, kind):
    path = tmp_path / "m"
    if kind == "linear":
        X = np.zeros((2, 500_000))
        X[:, 0] = [1, -1]
        save_model(LinearSVC().fit(X, [0, 1]), path)
    else:
        X = np.random.default_rng(0).normal(size=(500, 1000))
        save_model(SVC().fit(X, np.arange(500) % 2), path)
    load_model(GOLDEN / "0.1.0" / f"{kind}.model")  # which imports what it needs
    tracemalloc.start()
    load_model(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most <= 4 * os.path.getsize(path)
