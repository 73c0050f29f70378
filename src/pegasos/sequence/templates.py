"""Feature templates: which columns of which neighbours make the features of a position, in CRF++'s notation."""

import functools
import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple, Self

from pegasos.base.conventions import BaseEstimator, TransformerMixin
from pegasos.base.wording import counted

Sentence = Sequence[Sequence[str]]


class Source(NamedTuple):
    """A column, or what a macro makes of its strings: the name of the macro, and of prefixes and suffixes a length."""

    column: int
    macro: str = "x"
    length: int = 0


Place = tuple[int, Source]  # positions to the right, and what stands there

#: How far a template may look: what is beyond the ends of a sentence is made for all of it.
LARGEST_ROW = 100

_MACRO = re.compile(r"%(?:(x|lower|shape)\[(-?[0-9]+),([0-9]+)|(prefix|suffix)\[(-?[0-9]+),([0-9]+),([1-9][0-9]?))\]")
#: Longer runs of a shape are cut.
_LONG_RUN = re.compile(r"(.)\1{4,}", re.DOTALL)

#: Words in column 0 and parts of speech in column 1, in a window of two.
_CHUNKING = """\
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]

U10:%x[-2,1]
U11:%x[-1,1]
U12:%x[0,1]
U13:%x[1,1]
U14:%x[2,1]
U15:%x[-2,1]/%x[-1,1]
U16:%x[-1,1]/%x[0,1]
U17:%x[0,1]/%x[1,1]
U18:%x[1,1]/%x[2,1]

U20:%x[-2,1]/%x[-1,1]/%x[0,1]
U21:%x[-1,1]/%x[0,1]/%x[1,1]
U22:%x[0,1]/%x[1,1]/%x[2,1]

B
"""

#: Words alone, in column 0: their neighbours, ends and shapes.
_WORDS = """\
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]

U10:%lower[0,0]
U11:%prefix[0,0,1]
U12:%prefix[0,0,2]
U13:%prefix[0,0,3]
U14:%suffix[0,0,1]
U15:%suffix[0,0,2]
U16:%suffix[0,0,3]
U17:%suffix[0,0,4]
U18:%suffix[-1,0,3]
U19:%suffix[1,0,3]

U20:%shape[0,0]
U21:%shape[-1,0]/%shape[0,0]
U22:%shape[0,0]/%shape[1,0]

B
"""

_NAMED = {"chunking": _CHUNKING, "words": _WORDS}


class Template(TransformerMixin, BaseEstimator):
    """Feature templates in CRF++'s notation: from columns of strings to lists of features.

    Every line that begins with ``U`` makes one feature of a position. The feature is the text of the line, with each
    ``%x[row,column]`` replaced by the string in that column (counted from 0) of the position that many rows further on.
    Beyond the ends of a sentence the strings are ``_B-1``, ``_B-2`` and so on before it, and ``_B+1``, ``_B+2`` and so
    on after it. Empty lines, lines that begin with ``#`` and a line ``B`` have no effect: transitions between labels
    are always part of a `SequenceSVC`. Transitions that depend on columns, a ``B`` with ``%x``, are refused.

    These macros, which CRF++ does not have, transform the string that ``%x`` stands for:

    - ``%prefix[row,column,length]`` and ``%suffix[row,column,length]``: its first or last characters, at most 99;
    - ``%lower[row,column]``: the string in lower case;
    - ``%shape[row,column]``: its shape, ``X`` for each capital letter, ``x`` for each other letter, ``d`` for each
      digit, and other characters as they are; a run of one of them is cut after four.

    There is nothing to learn: `fit` checks the template and counts the columns.

    Parameters
    ----------
    text : str or sequence of str
        The template, or its lines.

    Attributes
    ----------
    n_features_in_ : int
        The number of columns in the sentences of `fit`, if these were a list.

    Examples
    --------
    >>> from pegasos.sequence.templates import Template
    >>> template = Template(["U0:%x[0,0]", "U1:%x[-1,1]/%x[0,1]"])
    >>> template.apply([("He", "PRP"), ("left", "VBD")])
    [['U0:He', 'U1:_B-1/PRP'], ['U0:left', 'U1:PRP/VBD']]

    >>> Template(["U0:%prefix[0,0,2]", "U1:%suffix[0,0,3]", "U2:%shape[0,0]"]).apply([("Catch-22",), ("McDonald",)])
    [['U0:Ca', 'U1:-22', 'U2:Xxxxx-dd'], ['U0:Mc', 'U1:ald', 'U2:XxXxxxx']]

    A template with a name:

    >>> len(Template.named("chunking").apply([("He", "PRP")])[0])
    19
    """

    def __init__(self, text: str | Sequence[str]) -> None:
        self.text = text

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Read a template from a file in UTF-8. An error in the template names the file."""
        name = os.fspath(path)
        with open(name, "rb") as file:
            content = file.read()
        try:
            template = cls(content.decode("utf-8-sig"))
            _compile(template.text)
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise ValueError(f"{name}: line {line}: not UTF-8; convert the file to UTF-8") from None
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        return template

    @classmethod
    def named(cls, name: str) -> Self:
        """The template with this name.

        ``"chunking"`` is the usual template for CoNLL-2000, with words in column 0 and parts of speech in column 1. Its
        features are the current word and part of speech and two on either side, pairs with the current word, and pairs
        and triples of parts of speech. ``"words"`` is for words alone, in column 0, for example to predict parts of
        speech or names. Its features are the current word and two on either side, pairs with the current word, and
        prefixes, suffixes and shapes.
        """
        if name not in _NAMED:
            raise ValueError(f"no template is named {name!r}; there are {' and '.join(map(repr, _NAMED))}")
        return cls(_NAMED[name])

    @classmethod
    def window(cls, n_columns: int, size: int = 1) -> Self:
        """One feature for each column of the current position and of `size` positions on either side.

        Examples
        --------
        >>> from pegasos.sequence.templates import Template
        >>> Template.window(1).apply([("He",), ("left",)])
        [['U0[-1]:_B-1', 'U0[0]:He', 'U0[+1]:left'], ['U0[-1]:He', 'U0[0]:left', 'U0[+1]:_B+1']]
        """
        rows = range(-size, size + 1)
        signed = {row: f"{row:+d}" if row else "0" for row in rows}
        return cls([f"U{column}[{signed[row]}]:%x[{row},{column}]" for column in range(n_columns) for row in rows])

    @property
    def n_columns(self) -> int:
        """The number of columns that a position must have; more columns do not matter."""
        return _count_columns(_compile(self.text))

    def fit(self, sentences: Any = None, y: Any = None) -> Self:
        """Check the template, and count the columns of the sentences."""
        _compile(self.text)
        if isinstance(sentences, Sequence):  # and not something that can be gone through only once
            widths = (len(position) for sentence in sentences for position in sentence)
            self.n_features_in_ = next(widths, self.n_columns)
        return self

    def apply(self, sentence: Sentence) -> list[list[str]]:
        """The features of each position of a sentence.

        Parameters
        ----------
        sentence : sequence of sequences of str
            The columns of each position.

        Returns
        -------
        features : list of lists of str
            For each position, as many features as the template has lines with ``U``.
        """
        return self.transform([sentence])[0]

    def transform(self, sentences: Iterable[Sentence]) -> list[list[list[str]]]:
        """The features of each position of each sentence. Within a call, equal features are one string in memory."""
        patterns = _compile(self.text)
        n_columns = _count_columns(patterns)
        rows = [0] + [pattern.row + row for pattern in patterns for row, _ in pattern.places]
        before = [f"_B-{distance}" for distance in range(-min(rows), 0, -1)]
        after = [f"_B+{distance}" for distance in range(1, max(rows) + 1)]
        groups = _group(patterns)
        sources = {source: _maker(source) for pattern in patterns for _, source in pattern.places}
        result: list[list[list[str]]] = []
        if not isinstance(sentences, Iterable):
            raise TypeError(f"sentences is {sentences!r}; pass a list of sentences, each a list of tuples of columns")
        for number, sentence in enumerate(sentences):
            if not isinstance(sentence, Collection):
                raise TypeError(f"sentence {number} is {sentence!r}; pass a list of tuples of columns")
            length = len(sentence)
            given = _transpose(sentence, number, n_columns)
            columns = {
                source: [*before, *(map(make, given[source.column]) if make else given[source.column]), *after]
                for source, make in (sources.items() if length else ())
            }
            features: list[Sequence[str]] = [()] * len(patterns)
            for group in groups if length else ():
                first = len(before) + group.first
                last = len(before) + group.last + length
                strings = [columns[source][first + row : last + row] for row, source in group.places]
                if len(strings) == 1:
                    made = map(group.make, strings[0])
                else:
                    made = map(group.make, zip(*strings, strict=True) if strings else [()] * length)
                for (k, shift), values in zip(group.members, zip(*made, strict=True), strict=True):
                    features[k] = values[shift : shift + length]
            result.append(list(map(list, zip(*features, strict=True))))
        return result

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.no_validation = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


class _Pattern(NamedTuple):
    """A line: the row of its first macro, all places counted from that row, and its text as a format of the strings."""

    row: int
    places: tuple[Place, ...]
    format: str


class _Made(dict[Any, tuple[str, ...]]):
    """What formats make of the same string or strings, made when it is asked for first.

    Text repeats itself: looking up is faster than joining, and later work on equal strings has their hashes.
    """

    def __init__(self, formats: Sequence[str]) -> None:
        self.formats = formats

    def __missing__(self, given: str | tuple[str, ...]) -> tuple[str, ...]:
        made = self[given] = tuple([format % given for format in self.formats])
        return made


class _Group(NamedTuple):
    """Patterns with the same places up to a shift: their features are looked up at once, and then shifted."""

    places: tuple[Place, ...]
    first: int  # of the rows of the patterns
    last: int
    make: Callable[[Any], tuple[str, ...]]
    members: list[tuple[int, int]]  # number of the pattern, and its row less the first


def _group(patterns: Sequence[_Pattern]) -> list[_Group]:
    groups = []
    for places in dict.fromkeys(pattern.places for pattern in patterns):
        alike = [(k, pattern) for k, pattern in enumerate(patterns) if pattern.places == places]
        rows = [pattern.row for _, pattern in alike]
        make = _Made([pattern.format for _, pattern in alike]).__getitem__
        groups.append(_Group(places, min(rows), max(rows), make, [(k, each.row - min(rows)) for k, each in alike]))
    return groups


def _compile(text: str | Sequence[str]) -> list[_Pattern]:
    if not isinstance(text, str | Sequence):
        raise TypeError(f"text={text!r}: must be the template's text, or its lines")
    lines = text.split("\n") if isinstance(text, str) else text
    patterns = []
    for number, line in enumerate(lines, 1):
        if not isinstance(line, str):
            raise TypeError(f"line {number} of the template is {line!r}; pass a text, or lines that are strings")
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        offset = len(line) - len(line.lstrip()) + 1
        if stripped[0] == "B":
            at = stripped.find("%")
            if at >= 0:
                raise ValueError(
                    f"line {number}, column {at + offset}: a transition that depends on columns, {stripped!r}; here "
                    f"they depend on labels alone: begin the line with U, or write B without %x"
                )
        elif stripped[0] == "U":
            patterns.append(_compile_line(stripped, number, offset))
        else:
            raise ValueError(
                f"line {number}, column {offset}: {stripped!r} begins with neither U nor B; write features as "
                f"'U00:%x[0,0]' and comments with #"
            )
    if not patterns:
        raise ValueError("the template has no features; write some, such as 'U00:%x[0,0]'")
    return patterns


def _compile_line(line: str, number: int, offset: int) -> _Pattern:
    at = -1
    while (at := line.find("%", at + 1)) >= 0:
        macro = _MACRO.match(line, at)
        if macro is None:
            raise ValueError(
                f"line {number}, column {at + offset}: {line[at : at + 12]!r} is no %x[row,column]; write two "
                f"integers, the second not negative, without spaces, such as %x[-1,0]; there are also %lower[-1,0], "
                f"%shape[-1,0], %prefix[-1,0,3] and %suffix[-1,0,3], where 3 is a length from 1 to 99"
            )
        if abs(_place(macro)[0]) > LARGEST_ROW:
            raise ValueError(
                f"line {number}, column {at + offset}: {macro[0]} looks more than {LARGEST_ROW} positions far; make "
                f"the row smaller"
            )
    found = [_place(macro) for macro in _MACRO.finditer(line)]
    row = found[0][0] if found else 0
    return _Pattern(row, tuple((r - row, source) for r, source in found), _MACRO.sub("%s", line))


def _place(macro: re.Match[str]) -> Place:
    if macro[1]:
        return int(macro[2]), Source(int(macro[3]), macro[1])
    return int(macro[5]), Source(int(macro[6]), macro[4], int(macro[7]))


def _maker(source: Source) -> Callable[[str], str] | None:
    """What makes the string of a macro from that of a column; none where they are the same."""
    _, macro, length = source
    if macro == "x":
        return None
    if macro == "prefix":
        return lambda word: word[:length]
    if macro == "suffix":
        return lambda word: word[-length:]
    return functools.cache(_shape) if macro == "shape" else str.lower


def _shape(word: str) -> str:
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in word)
    return _LONG_RUN.sub(r"\1\1\1\1", "".join(kinds))


def _count_columns(patterns: Iterable[_Pattern]) -> int:
    return max((source.column + 1 for pattern in patterns for _, source in pattern.places), default=0)


def _transpose(sentence: Sentence, number: int, n_columns: int) -> list[tuple[str, ...]]:
    """The columns that the template uses; a ValueError that names the position where there are not as many."""
    for k, position in enumerate(sentence):
        if isinstance(position, str):
            raise ValueError(
                f"sentence {number}, position {k} is the string {position!r}; pass a tuple of columns, ({position!r},)"
            )
        if not isinstance(position, Collection):
            raise ValueError(f"sentence {number}, position {k} is {position!r}; pass a tuple of columns")
        if len(position) < n_columns:
            raise ValueError(
                f"sentence {number}, position {k} has {counted(len(position), 'column')}, but the template uses "
                f"{n_columns}; add columns, or use another template"
            )
    columns = list(zip(*sentence, strict=False))[:n_columns]
    for column, values in enumerate(columns):
        try:
            "".join(values)
        except TypeError:
            k = next(k for k, value in enumerate(values) if not isinstance(value, str))
            raise ValueError(
                f"sentence {number}, position {k} has {values[k]!r} in column {column}; pass strings"
            ) from None
    return columns
