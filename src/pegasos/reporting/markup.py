"""HTML whose every text is escaped: what is no `Markup` is text."""

import html
import math
from collections.abc import Iterable, Sequence
from typing import Any

#: Elements without an end.
_VOID = {"meta", "input", "br"}
#: A gap from which it is written as a factor, and not in per cent.
LARGE = 10.0


class Markup(str):
    """HTML that is escaped already."""

    __slots__ = ()


def escape(value: Any) -> Markup:
    """Text as HTML; what is `Markup` stays as it is. Characters that no page may have are left out."""
    if isinstance(value, Markup):
        return value
    text = "".join(c if c >= " " or c in "\t\n" else "\ufffd" for c in str(value))
    return Markup(html.escape(text.encode("utf-8", "replace").decode(), quote=True))


def el(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """An element. None among children and attributes is left out, lists are taken one by one.

    An underscore in the name of an attribute is a dash, and one at its end is left out: ``class_``, ``aria_label``.

    Examples
    --------
    >>> el("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    inner = "".join(escape(child) for child in _flat(children))
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    texts = [
        f" {key}" if value is True else f' {key}="{escape(value)}"'
        for key, value in given.items()
        if value is not None and value is not False
    ]
    return Markup(f"<{name}{''.join(texts)}>" + ("" if name in _VOID else f"{inner}</{name}>"))


def svg(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """An element of a drawing, whose numbers are short."""
    return el(name, *children, **{k: f"{v:.5g}" if isinstance(v, float) else v for k, v in attributes.items()})


def _flat(children: Iterable[Any]) -> Iterable[Any]:
    for child in children:
        if isinstance(child, list | tuple | map):
            yield from _flat(child)
        elif child is not None:
            yield child


def table(
    head: Sequence[Any],
    rows: Iterable[Sequence[Any]],
    caption: Any,
    hidden_caption: bool = False,
    text_columns: Sequence[int] = (0,),
    class_: str | None = None,
) -> Markup:
    """A table that scrolls by itself where it is too wide. The first cell of a row is its heading."""
    heads = [el("th", text, scope="col", class_=None if k in text_columns else "n") for k, text in enumerate(head)]
    body = []
    for first, *cells in rows:
        made = [
            cell if isinstance(cell, Markup) and cell.startswith("<td") else _cell(cell, k in text_columns)
            for k, cell in enumerate(cells, 1)
        ]
        body.append(el("tr", el("th", first, scope="row"), made))
    told = el("caption", caption, class_="unseen" if hidden_caption else None)
    made_table = el("table", told, el("thead", el("tr", heads)), el("tbody", body), class_=class_)
    return el("div", made_table, class_="scroll", role="region", aria_label=caption, tabindex="0")


def _cell(value: Any, is_text: bool) -> Markup:
    return el("td", value, class_=None if is_text else "n")


def details(summary: Any, *children: Any, open_: bool = False, class_: str | None = None) -> Markup:
    """Something that is opened by a click."""
    return el("details", el("summary", summary), children, open=open_, class_=class_)


def number(value: Any, digits: int = 6) -> str:
    """A number for people.

    Examples
    --------
    >>> number(20765.134), number(3), number(float("nan")), number(0.0000123456789, 3)
    ('20,765.1', '3', '–', '1.23e-05')
    """
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "−∞")  # noqa: RUF001, the signs of mathematics
    return f"{value:,.{digits}g}"


def percent(share: float, digits: int = 1) -> str:
    """A share in per cent.

    Examples
    --------
    >>> percent(0.9312), percent(float("nan"))
    ('93.1%', '–')
    """
    return f"{share:.{digits}%}" if math.isfinite(share) else "–"


def relative(gap: float) -> str:
    """A relative gap in per cent, with two digits that count; a large one as a factor.

    Examples
    --------
    >>> relative(0.00868), relative(5e-9), relative(1.28), relative(12.8), relative(1.493e14)
    ('0.87%', '5e-07%', '128%', '13 times', '1.5e+14 times')
    """
    if gap >= LARGE:
        return f"{gap:.2g} times" if math.isfinite(gap) else "∞"
    return f"{100 * gap:.2g}%" if gap < 1 else f"{100 * gap:,.0f}%"


def seconds(value: float) -> str:
    """A time.

    Examples
    --------
    >>> seconds(0.0000012), seconds(0.612), seconds(2.31), seconds(75), seconds(4000)
    ('1.2 µs', '612 ms', '2.3 s', '1 min 15 s', '1 h 6 min')
    """
    if value < 60:
        size, unit = next(
            (size, unit) for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")) if value >= size or size < 1e-5
        )
        value /= size
        return f"{value:.0f} {unit}" if value >= 10 else f"{value:.2g} {unit}"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
