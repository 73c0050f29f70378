"""Faults of the command: changed files, closed output, signals."""

import contextlib
import io
import os
import re
import shutil
import signal
import sys
import time

import numpy as np
import pandas as pd
from sklearn.base import clone

from pegasos import SVC, LinearSVC
from pegasos.cli.run import run
from pegasos.io import load_model, save_model, write_dataset, write_svmlight

from .changes import changed
from .disks import contents, killed
from .fault import CHANGED, CRASH, LOST, REFUSED, UNHARMED, Harm, bits, kind, same
from .fits import CLASSES, SPARSE, TAGS, TEXTS, WORDS, X, Y
from .interrupts import LABELS, ROWS
from .text_files import write_csv, write_json


def make_files(folder):
    """Files of all kinds, and command lines that read each."""
    write_svmlight(SPARSE, Y, folder / "a.svm")
    (folder / "a.csv").write_text(write_csv(20))
    (folder / "a.jsonl").write_text(write_json(20))
    (folder / "a.vw").write_text("".join(f"{2 * label - 1} | {words}\n" for label, words in zip(Y, TEXTS, strict=True)))
    (folder / "a.txt").write_text("".join(f"{label}\t{words}\n" for label, words in zip(Y, TEXTS, strict=True)))
    sentences = [zip(words, tags, strict=True) for words, tags in zip(WORDS, TAGS, strict=True)]
    rows = ["".join(f"{word} {part} {tag}\n" for (word, part), tag in sentence) for sentence in sentences]
    (folder / "a.conll").write_text("\n".join(rows))
    save_model(LinearSVC(warm_start=True, random_state=0).fit(SPARSE, Y), folder / "a.model")
    write_dataset(folder / "a.ds", SPARSE, Y)
    return {
        "a.svm": (
            "train a.svm out --max-iter 3",
            "predict a.svm a.model out.txt --overwrite",
            "convert a.svm out.ds --overwrite",
        ),
        "a.csv": ("train a.csv out --label kind --max-iter 3", "convert a.csv out.ds --label kind --overwrite"),
        "a.jsonl": ("train a.jsonl out --label kind --max-iter 3",),
        "a.vw": ("train a.vw out --format vw --hash-bits 6 --one-pass", "train a.vw out --format vw --hash-bits 6"),
        "a.txt": ("train a.txt out --format text",),
        "a.conll": ("train a.conll out --task sequence --max-iter 3",),
        "a.model": (
            "inspect a.model",
            "predict a.svm a.model out.txt --overwrite",
            "train a.svm a.model --warm-start",
        ),
        "a.ds/header.json": ("train a.ds out", "inspect a.model"),
        "a.ds/values": ("train a.ds out", "convert a.ds out.svm --overwrite"),
    }


def spoken(*arguments):
    """Run a command line; its exit code, and what it said on standard output and standard error."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    out.flush()
    return code, out.buffer.getvalue().decode(), err.getvalue()


def quietly(line):
    """Run a command line; its exit code and what it said on standard error."""
    code, _, err = spoken(*line.split())
    return code, err


@kind(
    "files given to the command",
    "any of its files changed as above, then `pegasos train`, `predict`, `convert` or `inspect`; what the output was "
    "stays where the command is refused",
    2_000,
)
def prepare_command(folder):
    os.chdir(folder)
    lines = make_files(folder)
    before = contents(folder)
    for line in {line for own in lines.values() for line in own}:
        code, told = quietly(line)
        assert code == 0, f"{line}: {told}"

    def restore():
        for path in folder.iterdir():
            if path.name.startswith("out"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for name, data in before.items():
            (folder / name).write_bytes(data)
        (folder / "out").write_bytes(old)

    old = before["a.model"]
    restore()

    def inject(random):
        name = random.choice(sorted(lines))
        line = random.choice(lines[name])
        new, told = changed(before[name], random)
        (folder / name).write_bytes(new)
        try:
            code, error = quietly(line)
            if code == 0:
                return UNHARMED
            if code != 2 or error.count("pegasos: ") != 1 or "Traceback" in error:
                raise Harm(CRASH, f"pegasos {line}, {told}: exit code {code}, {error}")
            if (folder / "out").read_bytes() != old:
                raise Harm(LOST, f"pegasos {line}, {told}: refused, and the old output is gone")
            return REFUSED
        finally:
            restore()

    return inject


def end_by(line):
    """Run a command line, and end the process with its exit code; standard error goes to a file."""
    os.dup2(os.open("errors", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    sys.stderr = os.fdopen(2, "w")
    code = run(line.split())
    sys.stderr.flush()
    os._exit(code)


#: Parts of names: what breaks lines, what terminals obey, what looks like escapes or markup, and letters.
BREAKS = ("\n", "\r", "\x85", "\u2028")
ORDERS = ("\x1b[2J", "\x07", "\x9b2J", "\u202e", "\u2066")
PARTS = (*BREAKS, *ORDERS, "\\", r"\n", r"\x1b", "[/b]", "a", "é", "名")
ESCAPE = re.compile(r"\\(?:\\|[nrt]|x[0-9a-f]{2}|u[0-9a-f]{4})")


def drawn(random):
    return "".join(random.choice(PARTS) for _ in range(random.randrange(1, 5)))


@kind(
    "names that terminals obey",
    "line breaks, escape sequences and overrides of the direction in labels, names of features and of files; then "
    "`pegasos predict`, `inspect` and `report`: a line for each row, which tells its label, and nothing to obey",
    1_000,
)
def prepare_names(folder):
    os.chdir(folder)
    write_dataset(folder / "a.ds", X, Y)
    machines = (LinearSVC(random_state=0, tol=0.1), SVC(kernel="linear", random_state=0, tol=0.1))

    def inject(random):
        labels, own = set(), random.choice((2, 3))
        while len(labels) < own:
            labels.add(drawn(random))
        y = np.array(sorted(labels))[CLASSES % own]
        names = [f"{k}{drawn(random)}" for k in range(X.shape[1])]
        model = clone(random.choice(machines)).fit(pd.DataFrame(X, columns=names), y)
        path = f"m{drawn(random)}".replace("/", "")
        save_model(model, path)
        expected = model.predict(pd.DataFrame(X, columns=names)).tolist()
        del model.feature_names_in_
        save_model(model, "plain")
        lines = (["inspect", path], ["inspect", "--top", "9", path], ["predict", "a.ds", path])
        lines += (["predict", "a.ds", "plain"], ["report", "a.ds", "plain"], ["inspect", f"{path}x"])
        lines += (["report", "plain", "a.ds", "-o", f"{path}.html", "--overwrite"], ["train", "a.ds", f"{path}x/y"])
        try:
            for line in lines:
                code, out, err = spoken(*line)
                if code not in (0, 2) or err.count("\n") > 1:
                    raise Harm(CRASH, f"{line}: exit code {code}, {err!r}")
                if not all(char == "\n" or char.isprintable() for char in out + err):
                    raise Harm(CHANGED, f"{line}: {out!r}, {err!r}")
            _, out, _ = spoken("predict", "--quiet", "a.ds", "plain", "-")
        finally:
            os.remove(path)
        told = [ESCAPE.sub(lambda found: found[0].encode().decode("unicode_escape"), one) for one in out.split("\n")]
        return same(told, [*expected, ""], f"labels {sorted(labels)!r}: {out!r}")

    return inject


@kind(
    "closed output",
    "`pegasos` with standard output closed, full (`/dev/full`) or a pipe that nobody reads",
    400,
)
def prepare_closed(folder):
    os.chdir(folder)
    make_files(folder)
    lines = ("inspect a.model", "train a.svm out", "train a.svm out --json", "predict a.svm a.model -", "--help")

    def start(line, how):
        if how == "closed":
            os.close(1)
            sys.stdout = None
        else:
            reader, writer = os.pipe()
            os.close(reader)
            os.dup2(writer if how == "a pipe" else os.open("/dev/full", os.O_WRONLY), 1)
            sys.stdout = os.fdopen(1, "w")
        end_by(line)

    def inject(random):
        line, how = random.choice(lines), random.choice(("closed", "a pipe", "full"))
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                start(line, how)
            os._exit(99)
        status = os.waitpid(child, 0)[1]
        told = (folder / "errors").read_text()
        if status not in (0, 2 << 8) or "Traceback" in told or "Exception ignored" in told:
            raise Harm(CRASH, f"pegasos {line}, output {how}: status {status}, {told}")
        if "out" in line:
            load_model(folder / "out")
        return REFUSED if status else UNHARMED

    return inject


@kind(
    "Ctrl-C and SIGTERM to the command",
    "at a random moment of `pegasos train`, `predict` and `convert`; files are the old ones or the new ones, whole",
    400,
)
def prepare_signals(folder):
    os.chdir(folder)
    write_svmlight(ROWS, LABELS, folder / "a.svm")
    lines = {
        "train a.svm out --max-iter 100 --tol 1e-9 --solver sdca --random-state 0": 0.0,
        "train a.svm out --max-iter 100 --tol 1e-9 --solver sdca --random-state 0 --n-jobs 2 --checkpoint kept": 0.0,
        "predict a.svm a.model out.txt": 0.0,
        "convert a.svm out.ds --overwrite": 0.0,
    }
    quietly("train a.svm a.model")
    known = {}
    for line in lines:
        started = time.perf_counter()
        assert quietly(line)[0] == 0, line
        lines[line] = time.perf_counter() - started
        name = line.split()[3] if "predict" in line else line.split()[2]
        known[line] = name, result(folder / name)

    shutil.copy("out", "old")
    old = result(folder / "old")

    def inject(random):
        line = random.choice(sorted(lines))
        name, expected = known[line]
        number = random.choice((signal.SIGINT, signal.SIGTERM))

        for made in ("out", "kept"):
            shutil.rmtree(made, ignore_errors=True)
        (folder / "out.interrupted").unlink(missing_ok=True)
        shutil.copy("old", "out")
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # as the command does while it is being imported
        status = killed(lambda: end_by(f"{line} -q"), random.random() * lines[line], number)
        told = (folder / "errors").read_text()
        if status not in (0, 130 << 8, 143 << 8, signal.SIGTERM) or "Traceback" in told:
            raise Harm(CRASH, f"pegasos {line}, signal {number}: status {status}, {told}")
        if status not in (0, signal.SIGTERM) and status != (128 + number) << 8:
            raise Harm(CHANGED, f"pegasos {line}, signal {number}: status {status}, {told}")
        if "saved in" in told:  # the best point so far, beside the model that was there
            kept = "out.interrupted"
            same(load_model(folder / kept).certificate_.reason, "interrupt", f"{line}: {kept} does not say why")
            same(result(folder / name), old, f"{line}: {name} is not what it was")
        if result(folder / name) not in (old, expected):
            raise Harm(CHANGED, f"{line}, status {status}, {told}: {name} is neither the old nor the new one")
        return REFUSED if status else UNHARMED

    return inject


def result(path):
    """What is in a file that a command writes, without the time it took."""
    if path.is_dir():
        return contents(path)
    if path.suffix == ".txt":
        return path.read_bytes()
    model = load_model(path)
    return bits((model.coef_, model.intercept_, model.certificate_.primal))
