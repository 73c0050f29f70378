"""What is told of a fit while it runs."""

import io
import logging
import math
import re
import sys
import types

import numpy as np
import pytest
import rich.console
from sklearn.datasets import make_classification

from pegasos import SVC, LinearSVC, LinearSVCCV
from pegasos.base import display
from pegasos.base.checkpoint import Context
from pegasos.base.display import Display, listening, seconds_left

X, Y = make_classification(300, 10, random_state=0)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def on_terminal(monkeypatch):
    """Call it to have standard error a terminal, whose text it returns."""

    def begin():
        out = Terminal()
        monkeypatch.setattr("sys.stderr", out)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "150")
        monkeypatch.setattr(display, "REFRESH", 0.0)
        return out

    return begin


def test_time_left_goes_by_the_trend_of_the_second_half():
    seconds = [0.0, 1.0, 2.0, 3.0, 4.0]
    logs = [9.0, 8.0, 6.0, 5.0, 4.0]  # one in a second, at the end
    assert seconds_left(seconds, logs, 1.0) == pytest.approx(3.0)
    assert seconds_left(seconds, logs, 4.5) == 0
    assert seconds_left(seconds, [4.0] * 5, 1.0) == math.inf
    assert seconds_left([1.0], [4.0], 1.0) == math.inf


def test_time_left_ends_with_max_time():
    shown = Display("SVC", 1e-3, 0, limit=10.0)
    shown.whole.progressed(1.0, 4.0)
    assert shown.left == 6.0  # nothing is known of the gap
    for k in range(1, 8):
        shown.whole.checked(float(k), k, 1 + 10.0 / k, 1.0, dict)
    assert shown.left == 3.0
    assert Display("SVC", 1e-3, 0).left == math.inf


def test_few_lines_however_many_checks(capsys):
    shown = Display("SVC", 1e-3, 1)
    for k in range(1000):
        shown.whole.checked(k / 1000, k / 10, 1.0, 0.0 if k < 100 else 1 - 0.99 ** (k - 100), dict)
    shown.close()
    lines = capsys.readouterr().err.splitlines()
    assert 5 <= len(lines) <= 15
    assert not any("inf" in line for line in lines)
    assert lines[-1].startswith("gap 0.00012 of tol 0.001  epoch 99.9")


def test_a_line_every_ten_seconds(capsys):
    shown = Display("SVC", 1e-3, 1)
    for k in range(41):
        shown.whole.progressed(k, float(k))
    shown.close()
    assert [line.split()[1] for line in capsys.readouterr().err.splitlines()] == ["10.0", "20.0", "30.0", "40.0"]


def test_a_check_that_is_made_again_is_told_once(capsys):
    """A kernel's is, to be certified."""
    shown = Display("SVC", 1e-3, 1)
    for seconds, dual in ((0.1, 0.5), (0.2, 0.5001)):
        shown.whole.checked(seconds, 3.0, 1.0, dual, dict)
    shown.close()
    assert capsys.readouterr().err == "gap 1 of tol 0.001  epoch 3.0  0.1 s\n"


def test_epochs_do_not_go_back(capsys):
    """A solver may count them at its checks alone, and tell of work between."""
    shown = Display("SVC", 1e-3, 1)
    shown.whole.checked(1.0, 3.5, 1.0, 0.5, dict)
    shown.whole.progressed(0.0, 12.0)
    shown.close()
    assert capsys.readouterr().err.splitlines()[-1] == "gap 1 of tol 0.001  epoch 3.5  12.0 s"


def test_two_is_a_line_for_each_check(capsys):
    clf = LinearSVC(verbose=2, tol=0, max_iter=7, random_state=0)
    clf.fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(clf.history_["gap"])
    assert all("primal" in line and "dual" in line for line in lines)


def test_parts_are_counted(capsys):
    SVC(verbose=1).fit(X, np.arange(300) % 4)
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("6 of 6, ")
    assert float(last.split("gap ")[1].split()[0]) <= 1e-3


def test_folds(capsys):
    LinearSVCCV(Cs=3, cv=4, verbose=1, random_state=0).fit(X, Y)
    text = capsys.readouterr().err
    assert "4 of 4, fold 4: gap" in text
    assert {line.split(":")[0] for line in text.splitlines()[4:]} == {"last fit"}
    LinearSVCCV(Cs=3, cv=2, verbose=2, random_state=0).fit(X, np.arange(300) % 3)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("last fit: 2: epoch")
    assert lines[0].startswith("fold 1: epoch")


def test_the_log_gets_the_same_lines(capsys, caplog):
    caplog.set_level(logging.INFO, "pegasos")
    LinearSVC(verbose=1, random_state=0).fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert [record.getMessage() for record in caplog.records] == [f"LinearSVC: {line}" for line in lines]
    caplog.clear()
    LinearSVC(random_state=0).fit(X, Y)
    assert len(caplog.records) == len(lines)
    assert capsys.readouterr().err == ""


def test_silence_without_either(capsys):
    LinearSVC(random_state=0).fit(X, Y)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("y", [Y, np.arange(300) % 3])
def test_bar_on_a_terminal(on_terminal, y):
    terminal = on_terminal()
    LinearSVC(verbose=1, C=10, tol=1e-6, random_state=0).fit(X, y)
    text = terminal.getvalue()
    assert "LinearSVC" in text
    assert "gap" in text
    assert "━" in text
    assert ("3 of 3" in text) == (y is not Y)


def lines_of(terminal):
    """What was on the terminal, one drawing after the other, without colours."""
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())
    return [line for line in re.split(r"[\r\n]+", text) if "gap" in line]


@pytest.mark.parametrize("columns", [80, 100, 150])
def test_a_bar_keeps_its_length_and_cuts_no_text(on_terminal, monkeypatch, columns):
    terminal = on_terminal()
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = Display("LinearSVCCV", 1e-3, 1)
    shown.parts = 5
    for fold in range(1, 6):
        part = shown.whole.part(f"fold {fold}", fold, 5)
        for k in range(1, 40):
            part.checked(3.0 * k, 2.7 * k, 1.0 + 0.7 ** (k - 5), 1.0, dict)
        part.close()
    shown.close()
    lines = lines_of(terminal)
    assert len(lines) > 100
    assert not any("…" in line for line in lines)
    assert all(len(line) <= columns for line in lines)
    bars = [len(re.findall("[━╸╺]", line)) for line in lines]
    assert set(bars[1:]) == {bars[-1]}
    assert bars[-1] >= 8
    assert ("of tol" in lines[0]) == (columns == 150)


def test_the_finished_bar_tells_no_epoch(on_terminal):
    """The certificate counts the epochs begun, so that it would have another number."""
    terminal = on_terminal()
    LinearSVC(verbose=1, C=10, tol=1e-6, random_state=0).fit(X, Y)
    lines = lines_of(terminal)
    assert "epoch" in lines[0]
    assert "epoch" not in lines[-1]


def test_bar_ends_with_an_error(on_terminal):
    """The cursor, which the bar hides, is shown again."""
    terminal = on_terminal()
    clf = LinearSVC(verbose=1, tol=0, max_iter=10**6, random_state=0)

    def fail():
        with listening(clf, Context(0.0)) as progress:
            progress.progressed(1.0, 1.0)
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fail()
    assert "\x1b[?25h" in terminal.getvalue()


class ZMQInteractiveShell:
    """What a kernel of Jupyter is known by."""


@pytest.mark.parametrize("width", [60, 80, 115])
@pytest.mark.parametrize("y", [Y, np.arange(300) % 3])
def test_bar_in_a_notebook(monkeypatch, capsys, y, width):
    """One output below the cell, which is drawn again in its place."""
    monkeypatch.setattr(rich, "_console", rich.console.Console(width=width))  # which draws it
    outputs = []

    class Handle:
        def __init__(self, shown):
            outputs.append([])
            self.update(shown)

        def update(self, shown):
            outputs[-1].append(shown._repr_mimebundle_([], []))

    def show(shown, display_id):
        assert display_id is True
        return Handle(shown)

    notebook = types.ModuleType("IPython.display")
    notebook.display = show
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", notebook)
    monkeypatch.setattr("builtins.get_ipython", ZMQInteractiveShell, raising=False)
    monkeypatch.setattr(display, "REFRESH", 0.0)
    LinearSVC(verbose=1, C=10, tol=1e-6, random_state=0).fit(X, y)
    (drawn,) = outputs
    assert len(drawn) > 2
    assert "━" in drawn[-1]["text/html"]
    assert ("3 of 3" in drawn[-1]["text/plain"]) == (y is not Y)
    assert capsys.readouterr() == ("", "")


def test_python_in_a_terminal_of_ipython_is_no_notebook(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    LinearSVC(verbose=1, random_state=0).fit(X, Y)
    assert "gap" in capsys.readouterr().err
