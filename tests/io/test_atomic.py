"""Files that appear whole or not at all, and what killed processes leave behind."""

import os
import secrets
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pegasos.io import DatasetWriter, atomic, open_dataset, write_dataset
from pegasos.io.atomic import open_atomic

pytest.importorskip("fcntl", reason="what is left behind is told by locks, which this system has none of")

WRITES = {
    "file": "with open_atomic('made') as file: file.write(b'x'); stop()",
    "folder": "with DatasetWriter('made') as writer: writer.append(np.eye(3), [0, 1, 0]); stop()",
}
BEFORE = """
import numpy as np, sys
from pegasos.io import DatasetWriter
from pegasos.io.atomic import open_atomic
def stop(): print('written', flush=True); sys.stdin.read()
"""


def write(kind):
    if kind == "file":
        with open_atomic("made") as file:
            file.write(b"y")
    else:
        write_dataset("made", np.eye(2), [0, 1], overwrite=True)


@pytest.mark.parametrize("kind", WRITES)
def test_the_next_one_clears_what_a_killed_process_left(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-c", BEFORE + WRITES[kind]], **pipes) as process:
        assert process.stdout.readline() == b"written\n"
        (left,) = tmp_path.iterdir()
        write(kind)  # another one at work is let alone
        assert {path.name for path in tmp_path.iterdir()} == {"made", left.name}
        process.send_signal(signal.SIGKILL)
    others = [tmp_path / "other.0123456789abcdef.tmp", tmp_path / "made.tmp", tmp_path / "made.0123456789abcdef.old"]
    for other in others:
        other.touch()
    write(kind)
    assert {path.name for path in tmp_path.iterdir()} == {"made", *(other.name for other in others)}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_errors_name_the_file_that_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError, match="No space left") as failed, open_atomic("/dev/full") as file:
        file.write(b"x")
    assert failed.value.filename == "/dev/full"

    class Full:
        def write(self, data):
            raise OSError(28, "No space left on device")

        def close(self):
            pass

    def fill():
        with DatasetWriter("made") as writer:
            writer._files["values"] = Full()
            writer.append(np.eye(2), [0, 1])

    with pytest.raises(OSError, match="No space left") as failed:
        fill()
    assert failed.value.filename == "made"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", WRITES)
def test_all_is_on_disk_before_it_has_its_name(tmp_path, monkeypatch, kind):
    """Names of files that were synchronised, and renames, in their order."""
    monkeypatch.chdir(tmp_path)
    for _ in range(2):  # anew, and in place of the old one
        told = []
        monkeypatch.setattr(os, "fsync", lambda file, told=told: told.append(os.readlink(f"/proc/self/fd/{file}")))
        for where, name in ((os, "replace"), (os, "rename"), (atomic, "_exchange")):
            plain = getattr(where, name)
            monkeypatch.setattr(where, name, lambda old, new, f=plain, told=told: told.append("renamed") or f(old, new))
        write(kind)
        monkeypatch.undo()
        monkeypatch.chdir(tmp_path)
        first = told.index("renamed")
        synced = {Path(name).name for name in told[:first]}
        assert synced >= ({"header.json", "values", "labels"} if kind == "folder" else set())
        assert any(".tmp" in name for name in synced)
        assert told[-1] == str(tmp_path)


def test_a_disk_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("file")

    def fail(file):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output error") as failed, open_atomic("made") as file:
        file.write(b"z")
    assert failed.value.filename == "made"
    assert Path("made").read_bytes() == b"y"


@pytest.mark.parametrize("able", [True, False], ids=["by exchange", "by two names"])
def test_a_folder_takes_the_place_of_another(tmp_path, monkeypatch, able):
    """There is no moment without it, where the system can exchange names: what is killed then loses nothing."""
    monkeypatch.chdir(tmp_path)
    write("folder")
    seen, rename = [], os.rename

    def look(old, new):
        seen.append(os.path.exists("made"))
        rename(old, new)

    if able:
        monkeypatch.setattr(os, "rename", look)
    else:
        monkeypatch.setattr(atomic, "_exchange", lambda one, other: False)
    write_dataset("made", np.eye(3), [0, 1, 0], overwrite=True)
    assert open_dataset("made").shape == (3, 3)
    assert os.listdir() == ["made"]
    if able and sys.platform == "linux":
        assert not seen


def test_an_interrupt_before_there_is_a_name(tmp_path, monkeypatch):
    def interrupt(size):
        raise KeyboardInterrupt

    monkeypatch.setattr(secrets, "token_hex", interrupt)
    with pytest.raises(KeyboardInterrupt), open_atomic(tmp_path / "made"):
        pass
    assert os.listdir(tmp_path) == []


def test_a_writer_is_of_use_once(tmp_path):
    with DatasetWriter(tmp_path / "made") as writer:
        writer.append(np.eye(2), [0, 1])
    with pytest.raises(ValueError, match="is written to in a with statement"):
        writer.append(np.eye(2), [0, 1])
    assert open_dataset(tmp_path / "made").shape == (2, 2)
