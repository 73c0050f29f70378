"""``pegasos convert``"""

import os
import time
from collections.abc import Iterator
from typing import Any

import click
import numpy as np

from pegasos.base.wording import counted
from pegasos.cli.convert_model import convert_model, is_any_model
from pegasos.cli.data import file_of
from pegasos.cli.options import Names, Path, as_json_text, refuse_other_folder, refuse_standard_output
from pegasos.cli.talk import echo
from pegasos.cli.waiting import waiting
from pegasos.io import DatasetWriter, iter_svmlight, iter_table, open_dataset, write_svmlight
from pegasos.io.atomic import open_atomic
from pegasos.io.compression import compressing
from pegasos.io.dataset import Dataset, is_dataset
from pegasos.io.dataset_reader import read_examples
from pegasos.io.table import table_columns
from pegasos.io.table_file import NAMED, SUFFIXES, is_table

#: Ends of the names of files of other formats, the longer ones first.
_ENDINGS = sorted([*SUFFIXES, ".onnx", ".svm", ".svm.gz", ".gz", ".bz2", ".zst", ".xz"], key=len, reverse=True)


@click.command(short_help="Make a data set from a file, or convert a model.")
@click.argument("source", type=Path())
@click.argument("target", required=False, type=Path())
@click.option("--zero-based", is_flag=True, help="feature numbers of svmlight text start at 0 [they start at 1]")
@click.option(
    "--dtype",
    type=Names(["float32", "float64"]),
    help="precision of the values [float64; tables: float32 if that holds the values of all columns]",
)
@click.option("--label", metavar="COLUMN", help=f"tables ({NAMED}): the column of labels")
@click.option("--features", type=click.IntRange(min=1), help="number of features [the largest that occurs]")
@click.option("--verify", is_flag=True, help="compare the checksums of a data set; without TARGET do only this")
@click.option("--overwrite", is_flag=True, help="replace TARGET if it exists")
@click.option("-q", "--quiet", is_flag=True, help="print nothing but errors")
@click.option("--json", "as_json", is_flag=True, help="print the result as one JSON object")
def convert(
    source: str,
    target: str | None,
    zero_based: bool,
    dtype: str | None,
    label: str | None,
    features: int | None,
    verify: bool,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Make a data set, the folder TARGET, from SOURCE: an svmlight file ("-": standard input; also compressed) or a
    table (.csv, .tsv, .jsonl, .parquet, .arrow, .feather). This needs little memory, whatever the size of SOURCE.

    `pegasos train` and `pegasos.io.open_dataset` take the data set without parsing it again, even if it is larger than
    memory. If SOURCE is a data set, TARGET becomes svmlight text.

    If SOURCE is a model of LIBLINEAR or LIBSVM, TARGET becomes a pegasos model. A pegasos model becomes a model of
    LIBLINEAR (with a kernel, of LIBSVM), or an ONNX model if the name of TARGET ends in .onnx.

    \b
    Examples:
      pegasos convert train.svm train.ds              text, once and for all
      pegasos convert --label kind table.csv table.ds
      pegasos convert --verify train.ds               check that it is undamaged
      pegasos convert train.ds train.svm              back to text
      pegasos convert heart.liblinear heart.model     a model of another program
      pegasos convert heart.model heart.onnx          a model for another program
    """
    if target is not None:
        refuse_standard_output(target)
    if is_any_model(source):
        convert_model(source, target, features, overwrite, quiet, as_json)
        return
    if source.endswith(".onnx"):
        raise click.UsageError(f"{source}: models in ONNX are written and not read; convert the model it was made of")
    refuse_other_folder(source)
    started, talk = time.perf_counter(), not quiet and not as_json
    replaces = target is not None and (is_dataset(target) or (is_dataset(source) and os.path.lexists(target)))
    if replaces and not overwrite:
        raise click.UsageError(f"{target} exists already; name another TARGET, or give --overwrite to replace it")
    if is_dataset(source):
        if verify:
            open_dataset(source).verify()
        if target is not None:
            with waiting(f"writing {target}", shown=talk):
                _write_text(open_dataset(source), target, zero_based)
        elif not verify:
            raise click.UsageError(f"{source} is a data set already: name a TARGET for its text, or give --verify")
        told = open_dataset(source)
    else:
        if target is None:
            raise click.UsageError(f"name the TARGET, the folder to make of {source}")
        _refuse_other_ending(target)
        names = _names(source, label)
        writing = DatasetWriter(
            target, n_features=features, whole_labels=True, feature_names=names, overwrite=overwrite
        )
        with waiting(f"reading {source}", source, talk), writing as writer:
            for X, y in _pieces(source, zero_based, dtype, features, label):
                writer.append(X, y)
        told = open_dataset(target)
        if verify:
            told.verify()
    seconds = time.perf_counter() - started
    rows, width = told.shape
    if as_json:
        facts = {"examples": rows, "features": width, "entries": told.nnz, "bytes": told.nbytes, "verified": verify}
        echo(as_json_text("convert", {"source": source, "target": target, **facts, "seconds": seconds}))
    elif not quiet:
        shape = f"{counted(rows, 'example')} x {counted(width, 'feature')}"
        echo(f"{target or source}: {shape}, {told.nnz:,} entries, {seconds:.1f} s")
        if verify:
            echo("the checksums are right")


def _refuse_other_ending(target: str) -> None:
    """A data set is a folder, and one with the name of a file of another format is a slip."""
    name = target.rstrip(os.sep)
    ending = next((end for end in _ENDINGS if name.lower().endswith(end)), None)
    if ending is None or is_dataset(target):
        return
    why = "only a model becomes one in ONNX" if ending == ".onnx" else "only a data set becomes text"
    if is_table(name):
        why = "tables are read and not written"
    raise click.UsageError(
        f"{target} would be a data set, which is a folder, and its name ends in {ending}; {why}: name the TARGET such "
        f"as {name[: -len(ending)]}.ds"
    )


def _names(source: str, label: str | None) -> list[str] | None:
    """What the features of a table are called; those of svmlight text have numbers."""
    if not is_table(source):
        return None
    return [name for name in table_columns(source) if name != label]


def _pieces(
    source: str, zero_based: bool, dtype: str | None, features: int | None, label: str | None
) -> Iterator[tuple[Any, Any]]:
    """The examples of a file and their labels, some at a time."""
    if not is_table(source):
        if label is not None:
            raise click.UsageError("--label is for tables, such as .csv and .parquet files; leave it out")
        yield from iter_svmlight(file_of(source), zero_based=zero_based, dtype=dtype or np.float64, n_features=features)
        return
    if label is None:
        raise click.UsageError(f"{source} is a table; name its column of labels with --label")
    yield from iter_table(source, label=label, dtype=dtype)


def _write_text(dataset: Dataset, target: str, zero_based: bool) -> None:
    """As svmlight text, block by block; a file that is not what it was when it was written is an error."""
    with open_atomic(target) as file, compressing(file, target) as writer:
        for rows, labels in read_examples(dataset):
            write_svmlight(rows, labels, writer, zero_based=zero_based)
