"""Ctrl-C and SIGTERM: a command saves what it has, says so, and ends with the code of the signal."""

import signal
import subprocess
import sys

import numpy as np
import pytest

from pegasos.datasets import make_text
from pegasos.io import load_model, write_dataset, write_svmlight

COMMAND = [sys.executable, "-m", "pegasos"]
#: A fit that never ends by itself, with many checks.
ENDLESS = ["--solver", "pegasos", "--alpha", "1e-5", "--tol", "1e-18", "--max-iter", "100000000", "--verbose"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_svmlight(*make_text(500, 100, random_state=0), "train.svm")
    return tmp_path


def start(*arguments, **more):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    # Not in the group of the tests, so that the signal is theirs alone.
    return subprocess.Popen([*COMMAND, *arguments], **pipes, text=True, start_new_session=True, **more)


def make_read(process):
    """More than a pipe holds, so that the other side has begun to read when it is written."""
    process.stdin.write("1 1:1\n" * 200_000)
    process.stdin.flush()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_fit_is_saved(folder, number, code):
    process = start("train", *ENDLESS, "--report", "page.html", "train.svm", "m")
    for _ in range(3):  # checks
        assert "gap" in process.stderr.readline()
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == code
    assert "pegasos: page.html is not written, as the fit was cut short" in err
    assert not (folder / "page.html").exists()
    assert (
        err.rstrip()
        .splitlines()[-1]
        .startswith("pegasos: interrupted; the best point of the last check is saved in m; to be able")
    )
    assert "not converged: it was interrupted" in out
    model = load_model("m")
    assert model.certificate_.reason == "interrupt"
    assert 0 < model.certificate_.dual <= model.certificate_.primal < np.inf
    assert model.on_interrupt == "raise"


@pytest.mark.slow
def test_by_blocks_a_checkpoint_goes_on(folder):
    """There is no --warm-start by blocks."""
    rows = np.ones((40_000, 100))
    write_dataset("long.ds", rows, np.arange(40_000) % 2)
    process = start("train", *ENDLESS, "--memory-limit", "215MB", "long.ds", "m")
    for _ in range(3):  # checks
        assert "gap" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    err = process.communicate(timeout=120)[1]
    assert "saved in m; to be able to go on, train with --checkpoint from the first time on, and then --resume\n" in err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_before_the_first_check_there_is_nothing(folder, number, code):
    process = start("train", "--max-iter", "5", "-", "m")
    make_read(process)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert process.returncode == code
    assert err.strip() == "pegasos: interrupted while the data were read; m is not written"
    assert not (folder / "m").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stream_is_saved(folder, number):
    process = start("train", "--one-pass", "-", "m")
    line, n_lines = "1 1:1 2:0.5\n-1 2:1\n", 200_000
    for _ in range(n_lines // 1000):
        process.stdin.write(line * 1000)
    process.stdin.flush()
    for text in process.stdout:
        if "1,024" in text:
            break
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert err.rstrip() == "pegasos: interrupted; what was learned so far is saved in m"
    model = load_model("m")
    assert 1024 <= model.progressive_.n_rows <= 2 * n_lines
    assert f"({model.progressive_.n_rows:,} examples" in out


def test_the_old_model_stays_where_nothing_is_kept(folder):
    subprocess.run([*COMMAND, "train", "-q", "train.svm", "m"], check=True)
    before = (folder / "m").read_bytes()
    process = start("train", "-", "m")
    make_read(process)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert (folder / "m").read_bytes() == before


def test_the_old_model_stays_unless_the_fit_went_on_from_it(folder):
    subprocess.run([*COMMAND, "train", "-q", "--warm-start", "train.svm", "m"], check=True)
    before = (folder / "m").read_bytes()

    def interrupted(*more):
        process = start("train", *ENDLESS, *more, "train.svm", "m")
        for _ in range(3):  # checks
            assert "gap" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        return out.rstrip().splitlines()[-1], err.rstrip().splitlines()[-1]

    out, err = interrupted()
    assert out == "model    m.interrupted"
    assert "the last check is saved in m.interrupted" in err
    assert err.endswith("; m stays as it was")
    assert load_model("m.interrupted").certificate_.reason == "interrupt"
    assert (folder / "m").read_bytes() == before
    out, err = interrupted("--warm-start")
    assert out == "model    m"
    assert "m stays" not in err
    assert load_model("m").certificate_.reason == "interrupt"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_old_model_stays_where_no_bound_is_known(folder, number):
    """The first of three classes takes for ever, and the others are not begun."""
    write_svmlight(np.tile(np.eye(3), (20, 1)), np.tile([0, 1, 2], 20), "three.svm")
    subprocess.run([*COMMAND, "train", "-q", "three.svm", "m"], check=True)
    before = (folder / "m").read_bytes()
    process = start("train", *ENDLESS, "three.svm", "m")
    assert "gap" in process.stderr.readline()
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert load_model("m.interrupted").certificate_.gap == np.inf
    told = "there was no bound on the optimum yet; what there is is in m.interrupted; m stays as it was"
    assert err.rstrip().splitlines()[-1] == f"pegasos: interrupted; {told}"
    assert out.rstrip().endswith("model    m.interrupted")
    assert (folder / "m").read_bytes() == before


def test_while_C_is_chosen_there_is_no_model(folder):
    process = start("train", "--C", "auto", *ENDLESS[:2], *ENDLESS[4:], "train.svm", "m")
    assert "read in" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err.rstrip().splitlines()[-1] == "pegasos: interrupted while C was chosen; m is not written"
    assert not (folder / "m").exists()


#: A signal comes while the command imports what it needs.
AT_START = """
import os, signal, sys
from pegasos.cli import main

class Interrupting:
    def find_spec(self, name, *_):
        if name == {name!r}:
            os.kill(os.getpid(), {number})

sys.meta_path.insert(0, Interrupting())
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", ["numpy", "sklearn", "pegasos.cli.run", "pegasos._core"])
def test_a_signal_at_the_start_is_one_line(name, number):
    script = AT_START.format(name=name, number=int(number))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", "pegasos: interrupted\n")
