"""What becomes of a command where the system fails it: full disks, closed files, packages that are not there."""

import os
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
def test_convert_does_not_replace_where_standard_output_goes(folder):
    write_dataset("data", np.eye(2), [0, 1])
    (folder / "out").write_text("old\n")
    for line in ("m /dev/stdout", "data /dev/stdout", "train.svm /dev/fd/1", "m -", "data out"):
        target = line.split()[1]
        mistake = f"pegasos: {target} is the standard output, and TARGET is a file or folder of its own; name one\n"
        assert run_shell(f"pegasos convert --overwrite {line} >> out") == (2, "", mistake)
    assert (folder / "out").read_text() == "old\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_no_model(folder, pegasos):
    os.mkfifo("pipe")
    mistake = "pegasos: pipe: a pipe or a device, and a model is read from a file; write it to one\n"
    for line in ("inspect pipe", "predict train.svm pipe"):
        assert pegasos(line) == (2, "", mistake)


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


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_full_disks(folder, monkeypatch, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    for line in ("pegasos inspect m > /dev/full", "pegasos predict train.svm m - > /dev/full"):
        assert run_shell(line) == (2, "", "pegasos: standard output: No space left on device\n")
    lost = "standard output: No space left on device, so that what was to be printed is lost; the model is saved"
    (folder / "more.svm").write_text("0 1:1 2:1\n1 1:-1 2:2\n" * 10)
    for flags in ("", "--json", "--one-pass --classes 0,1", "--C auto"):
        assert run_shell(f"pegasos train {flags} more.svm new > /dev/full") == (2, "", f"pegasos: {lost}\n")
        (folder / "new").unlink()
    assert run_shell("pegasos train --quiet train.svm new > /dev/full") == (0, "", "")
    assert run_shell("pegasos predict train.svm m /dev/full")[2] == "pegasos: /dev/full: No space left on device\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of files")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_predictions_are_written_whole_or_not_without_a_word(folder, unbuffered):
    """Without a buffer the system writes what there is room for, and only the next write fails."""
    write_svmlight(np.tile(np.eye(4), (10_000, 1)), np.tile([0, 1, 0, 1], 10_000), "many.svm")
    run = f"PYTHONUNBUFFERED={unbuffered} pegasos predict --decision many.svm m -"
    assert run_shell(f"ulimit -f 100; {run} > cut.txt") == (2, "", "pegasos: standard output: File too large\n")
    assert run_shell(f"{run} > whole.txt")[0] == 0
    assert len((folder / "whole.txt").read_text().splitlines()) == 40_000
    assert run_shell(f"{run} | head -n 1")[0] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize(
    "line",
    [
        "pegasos train --one-pass --classes 0,1 train.svm n | true",
        "pegasos train --verbose --tol 1e-9 train.svm n 2>&1 | true",
        "pegasos train train.svm n 2>&-",
        "pegasos train --verbose train.svm n 2>/dev/full",
        "pegasos train --max-iter 1 --solver pegasos train.svm n 2>/dev/full",  # which has a warning to print
    ],
)
def test_a_model_is_written_though_nobody_reads_of_it(folder, line):
    """Standard output and error that are closed, full or gone do not end a fit."""
    code, _, error = run_shell(line)
    assert (code, error) == (0, "")
    assert (folder / "n").exists()


def test_a_folder_in_place_of_a_file(folder, pegasos):
    (folder / "d").mkdir()
    for line in ("train train.svm d", "train --one-pass --classes 0,1 train.svm d"):
        assert pegasos(line) == (2, "", "pegasos: d is a folder; name a file in it, such as d/a.model\n")
    for line in ("train d n", "predict d m", "convert d new"):
        assert "d is a folder, and no data set: it has no header.json" in pegasos(line)[2]


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs names of open files")
def test_an_output_may_be_a_pipe_by_name(folder):
    assert run_shell("pegasos predict -q train.svm m /dev/stdout | cat") == (0, "0\n1\n0\n1\n", "")
    assert (
        run_shell("echo kept > out; pegasos predict -q train.svm m /dev/stdout >> out; cat out")[1]
        == "kept\n0\n1\n0\n1\n"
    )
    line = "pegasos train -q --overwrite train.svm /dev/stdout >> out"
    assert run_shell(line) == (2, "", "pegasos: /dev/stdout is the standard output; name a file\n")
    assert run_shell("wc -l < out")[1].split() == ["5"]


def test_labels_that_the_model_does_not_know(folder, pegasos):
    write_svmlight(np.eye(4), [0, 1, 0, 7], "more.svm")
    assert pegasos("predict more.svm m")[1] == (
        "error 25.00%  (1 of 4 wrong); 1 of them has a label that the model does not know, such as 7\n"
    )
    write_svmlight(np.eye(4), [5, 6, 5, 7], "other.svm")
    assert (
        "has labels such as 5, and none that the model knows (0, 1), so no error" in pegasos("predict other.svm m")[1]
    )
