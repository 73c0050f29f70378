"""What becomes of a command where the system fails it: full disks, closed files, packages that are not there."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pegasos.io import write_dataset, write_svmlight


@pytest.fixture
def folder(tmp_path, monkeypatch, pegasos):
    monkeypatch.chdir(tmp_path)
    write_svmlight(np.eye(4), [0, 1, 0, 1], "train.svm")
    assert pegasos("train -q train.svm m") == (0, "", "")
    return tmp_path


def test_zstd_without_its_package(folder, pegasos, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    (folder / "data.svm.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    write_dataset("data", np.eye(2), [0, 1])
    words = "zstd files need Python 3.14 or the package zstandard; install zstandard\n"
    for line in ("train data.svm.zst", "predict data.svm.zst m", "convert data.svm.zst new"):
        assert pegasos(line) == (2, "", f"pegasos: data.svm.zst: {words}")
    assert pegasos("convert data new.svm.zst") == (2, "", f"pegasos: new.svm.zst: {words}")


def run_shell(line):
    line = line.replace("pegasos", f"'{sys.executable}' -m pegasos", 1)
    found = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=120)
    return found.returncode, found.stdout, found.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_closed_files(folder):
    assert run_shell("pegasos inspect m >&-") == (0, "", "")
    assert run_shell("pegasos inspect m >&- 2>&-") == (0, "", "")
    assert run_shell("pegasos train train.svm n >&-") == (0, "", "")
    assert (folder / "n").exists()
    mistake = "pegasos: standard output is closed; name an OUTPUT file\n"
    assert run_shell("pegasos predict train.svm m - >&-") == (2, "", mistake)
    assert run_shell("pegasos predict - m <&-") == (2, "", "pegasos: standard input is closed; name a file\n")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_a_pipe_that_nobody_reads(folder):
    for line in ("pegasos inspect m", "pegasos train train.svm n", "pegasos predict train.svm m -", "pegasos --help"):
        started = line.replace("pegasos", f"'{sys.executable}' -m pegasos", 1)
        pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
        with subprocess.Popen(["/bin/sh", "-c", f"exec {started}"], **pipes) as found:
            found.stdout.close()
            assert (found.stderr.read(), found.wait()) == (b"", 0), line


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disks(folder):
    for line in ("pegasos inspect m > /dev/full", "pegasos predict train.svm m - > /dev/full"):
        assert run_shell(line) == (2, "", "pegasos: standard output: No space left on device\n")
    assert run_shell("pegasos predict train.svm m /dev/full")[2] == "pegasos: /dev/full: No space left on device\n"
