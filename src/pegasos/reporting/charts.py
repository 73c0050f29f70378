"""Charts as drawings in the page, with the points that are told of under the pointer or by the arrow keys."""

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pegasos.reporting.markup import Markup, details, el, number, svg

WIDTH, HEIGHT = 460, 290
RIGHT, TOP, BOTTOM = 14, 30, 46
#: The room of a character of a label; letters are larger on a phone.
CHARACTER = 8.6
#: Points of a line that are drawn and told of, at most, and lines that have colours of their own.
MOST_POINTS, COLOURS = 160, 7

Point = tuple[float, float, str]  # where, and what is told of it


class Series(NamedTuple):
    """A line, and what is told of each of its points."""

    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    tips: list[str]
    style: str = ""  # "dashed", or by its place
    colour: int | None = None  # its place by default
    spread: NDArray[np.float64] | None = None  # how far bars reach up and down from the points


def series(
    name: str,
    x: ArrayLike,
    y: ArrayLike,
    tips: Sequence[str],
    style: str = "",
    colour: int | None = None,
    spread: ArrayLike | None = None,
) -> Series:
    """A line whose points are finite, and not too many."""
    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    keep = np.flatnonzero(np.isfinite(xs) & np.isfinite(ys))
    keep = keep[thin(len(keep), MOST_POINTS)]
    bars = None if spread is None else np.nan_to_num(np.asarray(spread, dtype=np.float64))[keep]
    return Series(name, xs[keep], ys[keep], [tips[k] for k in keep.tolist()], style, colour, bars)


def thin(count: int, most: int) -> NDArray[np.intp]:
    """Some of so many places, evenly, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.intp)) if count else np.arange(0)


class Scale:
    """From values to places, on a linear or a logarithmic scale."""

    def __init__(self, low: float, high: float, start: float, end: float, log: bool = False) -> None:
        self.log = log
        if log:
            low, high = math.log10(low), math.log10(high)
        if not high > low:
            low, high = low - (0.5 if log else abs(low) / 2 or 0.5), high + (0.5 if log else abs(high) / 2 or 0.5)
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, value: float) -> float:
        if self.log:
            value = math.log10(value)
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Round values, and how they are written."""
        if self.log:
            factors = (1,) if self.high - self.low > 1.5 else (1, 2, 5)
            every = max(1, math.ceil((self.high - self.low) / 6))
            powers = range(math.floor(self.low), math.ceil(self.high) + 1)
            values = [f * 10.0**p for p in powers if p % every == 0 or len(factors) > 1 for f in factors]
            kept = [v for v in values if self.low - 1e-9 <= math.log10(v) <= self.high + 1e-9]
            if len(kept) > 1:
                return [(value, f"{value:g}") for value in kept]
        low, high = (10**self.low, 10**self.high) if self.log else (self.low, self.high)
        step = 10 ** math.floor(math.log10((high - low) / 4))
        step *= next(f for f in (1, 2, 5, 10) if (high - low) / (f * step) <= 6)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        return [(k * step, _short(k * step, step)) for k in range(first, last + 1)]


def _short(value: float, step: float) -> str:
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    size = max(abs(value), step)
    if size >= 1e6 or digits > 4:
        return f"{value:.3g}".replace("e+0", "e").replace("e-0", "e-") if value else "0"
    return f"{value:,.{digits}f}"


class Frame:
    """Where values are in a drawing. What is at the left of it leaves room for the labels there."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float], x_log: bool = False, y_log: bool = False):
        self.y = Scale(*y, HEIGHT - BOTTOM, TOP, y_log)
        self.left = 14 + CHARACTER * max((len(text) for _, text in self.y.ticks()), default=0)
        self.x = Scale(*x, self.left, WIDTH - RIGHT, x_log)

    def drawn(self, x_label: str, y_label: str) -> list[Markup]:
        """Axes with their ticks, and what they are called."""
        parts = []
        for value, text in self.y.ticks():
            place = self.y(value)
            parts.append(svg("line", x1=self.left, x2=WIDTH - RIGHT, y1=place, y2=place, class_="grid"))
            parts.append(svg("text", text, x=self.left - 7, y=place + 4, text_anchor="end"))
        for value, text in self.x.ticks():
            place = self.x(value)
            parts.append(svg("line", x1=place, x2=place, y1=HEIGHT - BOTTOM, y2=HEIGHT - BOTTOM + 4, class_="axis"))
            parts.append(svg("text", text, x=place, y=HEIGHT - BOTTOM + 18, text_anchor="middle"))
        bottom = HEIGHT - BOTTOM
        parts.append(svg("line", x1=self.left, x2=WIDTH - RIGHT, y1=bottom, y2=bottom, class_="axis"))
        parts.append(
            svg("text", x_label, x=(self.left + WIDTH - RIGHT) / 2, y=HEIGHT - 8, text_anchor="middle", class_="name")
        )
        parts.append(svg("text", y_label, x=0, y=14, class_="name"))
        return parts


def figure(title: str, summary: str, drawn: list[Any], points: Sequence[Sequence[Point]], *more: Any) -> Markup:
    """A drawing with a title, a summary for those who do not see it, and the points to tell of, by lines."""
    rounded = [[[round(x, 1), round(y, 1), text] for x, y, text in line] for line in points]
    cursor = svg(
        "g",
        svg("line", y1=TOP, y2=HEIGHT - BOTTOM, x1=0, x2=0, class_="cross"),
        svg("circle", r=4.5, cx=0, cy=0),
        class_="cursor",
        visibility="hidden",
    )
    picture = el(
        "svg",
        drawn,
        cursor,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=f"{title}. {summary} Arrow keys tell of its points.",
        tabindex="0",
        data_points=json.dumps(rounded, separators=(",", ":"), ensure_ascii=False),
    )
    tip = el("div", class_="tip", role="status", hidden=True)
    return el("figure", el("figcaption", title), el("div", picture, tip, class_="plot"), more, class_="chart")


def line_chart(
    title: str,
    summary: str,
    lines: Sequence[Series],
    x_label: str,
    y_label: str,
    y_log: bool = False,
    x_log: bool = False,
    between: bool = False,
    unit: bool = False,
    diagonal: bool = False,
    mark: tuple[float, str] | None = None,
    table: Markup | None = None,
) -> Markup:
    """Lines; `between` fills what is between the first two, `unit` has both axes from 0 to 1, and `mark` is a value of
    x with a name."""
    lines = [
        line._replace(
            x=line.x[keep],
            y=line.y[keep],
            tips=[line.tips[k] for k in keep.tolist()],
            spread=None if line.spread is None else line.spread[keep],
        )
        for line in lines
        for keep in [np.flatnonzero(((line.y > 0) | (not y_log)) & ((line.x > 0) | (not x_log)))]
    ]
    xs, ys = (np.concatenate([getattr(line, axis) for line in lines]) for axis in ("x", "y"))
    if not len(xs):
        return el("p", f"{title}: there is nothing to draw.", class_="note")
    for line in lines:
        if line.spread is not None:
            ys = np.concatenate([ys, line.y - line.spread, line.y + line.spread])
    (left, right), (low, high) = ((0.0, 1.0), (0.0, 1.0)) if unit else (_range(xs, x_log), _range(ys, y_log))
    if not x_log:
        left = min(left, 0.0)
    frame = Frame((left, right), (low, high), x_log, y_log)
    drawn = frame.drawn(x_label, y_label)
    points: list[list[Point]] = []
    if diagonal:
        drawn.append(svg("line", x1=frame.x(0), y1=frame.y(0), x2=frame.x(1), y2=frame.y(1), class_="diagonal"))
    if between:
        upper, lower = ([(frame.x(x), frame.y(y)) for x, y in zip(*one[1:3], strict=True)] for one in lines[:2])
        drawn.append(svg("polygon", points=_pairs([*upper, *reversed(lower)]), class_="area s0"))
    for place, line in reversed(list(enumerate(lines))):
        own = [(frame.x(x), frame.y(y)) for x, y in zip(line.x.tolist(), line.y.tolist(), strict=True)]
        colour = _colour(line, place)
        if line.spread is not None:
            ends = zip((line.y - line.spread).tolist(), (line.y + line.spread).tolist(), strict=True)
            drawn += [
                svg("line", x1=x, x2=x, y1=frame.y(low), y2=frame.y(high), class_=f"line {colour}")
                for (x, _), (low, high) in zip(own, ends, strict=True)
            ]
        drawn.append(svg("polyline", points=_pairs(own), class_=_style(line, place)))
        if len(own) <= 30 and not unit:
            drawn += [svg("circle", cx=x, cy=y, r=2.5, class_=f"dot {colour}") for x, y in own]
        points.insert(0, [(x, y, text) for (x, y), text in zip(own, line.tips, strict=True)])
    if mark is not None:
        x, after = frame.x(mark[0]), frame.x(mark[0]) < WIDTH / 2
        drawn.append(svg("line", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM, class_="mark"))
        place_of_text = {"x": x + (6 if after else -6), "y": TOP + 10, "text_anchor": "start" if after else "end"}
        drawn.append(svg("text", mark[1], class_="name", **place_of_text))
    legend = None
    if len(lines) > 1:
        entries = [el("li", _key(line, k), line.name) for k, line in enumerate(lines)]
        legend = el("ul", entries, class_="legend")
    return figure(title, summary, drawn, points, legend, table and details("The points as a table", table))


def bar_chart(
    title: str,
    summary: str,
    edges: NDArray[np.float64],
    groups: Sequence[tuple[str, str, NDArray[np.bool_]]],
    counts: NDArray[Any],
    x_label: str,
    marks: Sequence[float] = (),
    table: Markup | None = None,
) -> Markup:
    """A histogram; a group has a name, a colour and its bins, and `marks` are values with a line."""
    frame = Frame((float(edges[0]), float(edges[-1])), (0.0, float(max(counts.max(initial=0), 1)) * 1.04))
    drawn, points = frame.drawn(x_label, "examples"), []
    for k, count in enumerate(counts.tolist()):
        left, right, top = frame.x(float(edges[k])), frame.x(float(edges[k + 1])), frame.y(count)
        name, colour = next((name, colour) for name, colour, own in groups if own[k])
        width = max(right - left - 1, 0.5)
        drawn.append(svg("rect", x=left, y=top, width=width, height=HEIGHT - BOTTOM - top, class_=f"bar {colour}"))
        span = f"{number(float(edges[k]), 3)} to {number(float(edges[k + 1]), 3)}"
        points.append(((left + right) / 2, top, f"{span}\n{number(count)} examples" + (f", {name}" if name else "")))
    for mark in marks:
        drawn.append(svg("line", x1=frame.x(mark), x2=frame.x(mark), y1=TOP, y2=HEIGHT - BOTTOM, class_="mark"))
    named = [(name, colour) for name, colour, _ in groups if name]
    legend = el("ul", [el("li", el("span", class_=f"key box {c}"), name) for name, c in named], class_="legend")
    more = details("The bars as a table", table) if table else None
    return figure(title, summary, drawn, [points], legend if named else None, more)


def scatter_chart(
    title: str, summary: str, points: Sequence[tuple[float, float, str]], x_label: str, y_label: str
) -> Markup:
    """Points, and the line on which both values are equal."""
    xs, ys = np.array([x for x, _, _ in points]), np.array([y for _, y, _ in points])
    low, high = _range(np.concatenate([xs, ys]), False)
    frame = Frame((low, high), (low, high))
    drawn = frame.drawn(x_label, y_label)
    drawn.append(svg("line", x1=frame.x(low), y1=frame.y(low), x2=frame.x(high), y2=frame.y(high), class_="diagonal"))
    places = sorted((frame.x(x), frame.y(y), text) for x, y, text in points)
    drawn += [svg("circle", cx=x, cy=y, r=3.0, class_="point s0") for x, y, _ in places]
    return figure(title, summary, drawn, [places])


def _range(values: NDArray[np.float64], log: bool) -> tuple[float, float]:
    """The values with a little room around; one that is nearly at 0 begins there."""
    low, high = float(values.min()), float(values.max())
    if log:
        room = 1.05 * (high / low) ** 0.03
        return low / room, high * room
    room = 0.03 * (high - low)
    return (0.0 if 0 <= low <= 0.25 * high else low - room), high + room


def _pairs(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _colour(line: Series, place: int) -> str:
    return f"s{(place if line.colour is None else line.colour) % COLOURS}"


def _style(line: Series, place: int) -> str:
    """Colour and dashes of a line: each tells it from the others."""
    return f"line {_colour(line, place)} {line.style or f'd{place % COLOURS}'}"


def _key(line: Series, place: int) -> Markup:
    """A piece of the line, for the legend."""
    piece = svg("line", x1=0, x2=40, y1=5, y2=5, class_=_style(line, place))
    return el("svg", piece, viewBox="0 0 40 10", class_="key", aria_hidden="true")
