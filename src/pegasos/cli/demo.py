"""``pegasos demo``"""

import contextlib
import shutil
import tempfile
import time
from pathlib import Path

import click

from pegasos.cli.predict import predict
from pegasos.cli.report import report
from pegasos.cli.talk import echo
from pegasos.cli.train import train
from pegasos.datasets import make_text
from pegasos.io import write_svmlight


@click.command(short_help="Show the commands at work, on a synthetic problem.")
@click.option("--rows", type=click.IntRange(min=100), default=200_000, help="documents to generate [200000]")
@click.option("--words", type=click.IntRange(min=10), default=50_000, help="words in the vocabulary [50000]")
@click.option("--directory", type=click.Path(file_okay=False), help="folder for the files [a temporary folder]")
@click.option("--random-state", type=int, default=0, help="seed [0]")
def demo(rows: int, words: int, directory: str | None, random_state: int) -> None:
    """Generate a large sparse text problem, train on it with a certificate, test, and write a report.

    \b
    Examples:
      pegasos demo                                           200,000 documents; keeps the report
      pegasos demo --rows 20000 --words 5000 --directory text
    """
    with contextlib.ExitStack() as stack:
        kept = None
        if directory is None:
            directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="pegasos-"))
            kept = Path(tempfile.mkdtemp(prefix="pegasos-demo-")) / "report.html"
            stack.callback(_remove_if_empty, kept.parent)
        Path(directory).mkdir(parents=True, exist_ok=True)
        stack.enter_context(contextlib.chdir(directory))
        started = time.perf_counter()
        echo(f"Making {rows:,} documents over {words:,} words ...")
        X, y = make_text(rows, words, random_state=random_state)
        n_train = rows * 4 // 5
        write_svmlight(X[:n_train], y[:n_train], "train.svm")
        write_svmlight(X[n_train:], y[n_train:], "test.svm")
        echo(f"... {X.nnz:,} entries, made and written in {time.perf_counter() - started:.1f} s")
        _run(train, f"--alpha 1e-5 --tol 1e-4 --dtype float32 --random-state {random_state} train.svm text.model")
        _run(predict, "--dtype float32 test.svm text.model")
        _run(report, "--dtype float32 text.model test.svm -o report.html")
        if kept is not None:
            shutil.move("report.html", kept)
            echo(f"The files are removed, but for the report: open {kept}")


def _run(command: click.Command, arguments: str) -> None:
    echo("", f"$ pegasos {command.name} {arguments}")
    command.main(arguments.split(), prog_name=f"pegasos {command.name}", standalone_mode=False)


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()
