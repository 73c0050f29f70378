"""What all kinds of data files share: the flags about them, and what is read."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import click

from pegasos.base.wording import visible
from pegasos.cli.options import Names
from pegasos.io.table_file import NAMED
from pegasos.summary import machine_of

Command = Callable[..., Any]
Summary = tuple[dict[str, Any], str]  # for machines, and in words


def data_flags(command: Command) -> Command:
    """How to read a data file."""
    command = click.option(
        "--separator", metavar="TEXT", help='what separates columns; "tab" is a tab [any spaces and tabs]'
    )(command)
    command = click.option(
        "--scheme",
        type=Names(["iob1", "iob2"]),
        help="sequence: scheme of the chunk labels in DATA; iob1, where B-X stands only between two chunks of type X, "
        "is read as iob2, where B-X begins each chunk [as they are]",
    )(command)
    command = click.option("--label", metavar="COLUMN", help=f"tables ({NAMED}): the column of labels or targets")(
        command
    )
    command = click.option(
        "--text", metavar="COLUMN", help="tables: the column of raw texts; their words are features [none]"
    )(command)
    command = click.option(
        "--memory-limit",
        metavar="SIZE",
        help="data sets: memory to use, such as 1GB [half of the free memory]",
    )(command)
    command = click.option(
        "--dtype", type=Names(["float32", "float64"]), help="precision of the examples [float64; tables: their own]"
    )(command)
    return click.option(
        "--zero-based", is_flag=True, default=None, help="feature numbers start at 0 [they start at 1]"
    )(command)


def fit_or_keep(model: Any, *data: Any) -> Any:
    """Fit a machine, or a pipeline that ends in one; go on after Ctrl-C where the machine keeps a point."""
    machine = machine_of(model)
    before = vars(machine).get("certificate_")
    try:
        model.fit(*data)
    except KeyboardInterrupt:
        if vars(machine).get("certificate_") is before:
            raise
    return model


class DataFlags(NamedTuple):
    """What the flags say about data; None where they are not given."""

    zero_based: bool | None
    dtype: str | None
    separator: str | None
    template: str | None = None
    label: str | None = None
    memory_limit: str | None = None
    scheme: str | None = None
    text: str | None = None
    form: str | None = None
    ngrams: int | None = None
    min_count: int | None = None
    hash_bits: int | None = None

    @property
    def of_text(self) -> bool:
        """Whether they say that data are texts."""
        return self.form in ("text", "vw")

    def refuse(self, reason: str, *names: str) -> None:
        for name in names:
            if getattr(self, name) is not None:
                raise click.UsageError(f"--{name.replace('_', '-')} is for {reason}; leave it out")


class Data(NamedTuple):
    """What a file holds."""

    source: str
    X: Any
    y: Any  # None where it has no labels
    counts: dict[str, int]
    text: str  # the counts in words
    weights: Any = None  # of the examples, where they are not all 1
    lines: list[int] | None = None  # of sentences, where they begin


class Form(Protocol):
    """A kind of data file, and what there is to say about predictions for it."""

    def read(self, source: str) -> Data:
        """The data in a file, or with ``-`` in standard input."""

    def parts(self, source: str) -> Iterator[Data]:
        """The same to predict for, some examples at a time where the file has them one after the other."""

    def fit(self, machine: Any, data: Data) -> Any:
        """What to save: the machine that was fitted, with all that it needs to read other files."""

    def features(self, data: Data) -> Any:
        """What the machine is fitted to."""

    def called(self, data: Data) -> Sequence[str] | None:
        """What columns of features are called in messages; None is by numbers from 0."""

    def unfitted(self, machine: Any, data: Data) -> Any:
        """A model by which other files are read as after the fit to these data, before there is one."""

    def lines(self, values: Any) -> str:
        """What is predicted, as text."""

    def judge(self, parts: Iterable[tuple[Any, Data]], machine: Any) -> Summary:
        """How good predictions are, in parts with the data that they are for."""


def called(source: str) -> str:
    """What a source is called in messages."""
    return "standard input" if source == "-" else visible(source)


def file_of(source: str) -> Any:
    """The name of a file, or standard input."""
    if source != "-":
        return source
    if sys.stdin is None:
        raise click.UsageError("standard input is closed; name a file")
    return sys.stdin.buffer


def quoted(names: list[str]) -> str:
    """Columns by their names, not too many of them."""
    text = ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} others" if len(names) > 5 else "")
    return f"column{'' if len(names) == 1 else 's'} {text}"
