"""Sections of a report on predictions: errors, curves, margins, residuals."""

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from pegasos.base.wording import counted
from pegasos.reporting.charts import COLOURS, bar_chart, line_chart, scatter_chart, series, thin
from pegasos.reporting.fit import MOST_ROWS, Section, listed, section
from pegasos.reporting.markup import Markup, el, number, percent, table
from pegasos.reporting.quality import Curve, Labelled, Valued
from pegasos.sequence.chunks import ChunkCounts
from pegasos.summary import margin_bins

#: Classes up to which two tables have room beside each other, and up to which the whole confusion matrix is shown;
#: beyond that so many pairs of classes are listed.
FEW_CLASSES, MOST_CLASSES, MOST_PAIRS = 4, 26, 30
#: Bins of histograms, about; points of a scatter; rows of a table of points.
BINS, DOTS, ROWS = 40, 700, 40


@singledispatch
def sections(found: Any) -> list[Section]:
    """All there is to tell."""
    raise TypeError(type(found).__name__)


@sections.register
def _sections_of_labels(found: Labelled) -> list[Section]:
    curves = _curves(found.curves)
    told = el("p", _curves_told(found.curves))
    thresholds = section("thresholds", "Thresholds", told, el("div", curves, class_="charts")) if curves else None
    made = [_errors(found), _chunks(found), _margins(found), thresholds]
    return [one for one in made if one is not None]


@sections.register
def _sections_of_values(found: Valued) -> list[Section]:
    residuals = found.residuals
    facts = [
        ("R²", number(found.r2, 4)),
        ("Mean squared error", number(float(np.mean(residuals**2)))),
        ("Its root", number(float(np.sqrt(np.mean(residuals**2))))),
        ("Mean absolute error", number(float(np.abs(residuals).mean()))),
        ("Median absolute error", number(float(np.median(np.abs(residuals))))),
        ("Mean residual", number(float(residuals.mean()), 3)),
    ]
    order = thin(len(found.y), DOTS)
    dots = [
        (float(found.y[k]), float(found.predicted[k]),
         f"target {number(float(found.y[k]))}\npredicted {number(float(found.predicted[k]))}")
        for k in order.tolist()
    ]  # fmt: skip
    some = f" ({len(dots)} of {number(len(found.y))})" if len(dots) < len(found.y) else ""
    counts, edges = np.histogram(residuals, BINS)
    rows = [
        (f"{number(float(low), 4)} to {number(float(high), 4)}", number(int(count)))
        for low, high, count in zip(edges, edges[1:], counts, strict=False)
    ]
    charts = [
        scatter_chart(f"Predicted against true{some}", f"R² is {number(found.r2, 4)}.", dots, "target", "predicted"),
        bar_chart(
            "Residuals", f"Their mean is {number(float(residuals.mean()), 3)}.", edges,
            [("", "s0", np.ones(len(counts), dtype=bool))], counts, "predicted less true", [0.0],
            table(("Residual", "Examples"), rows, "Residuals"),
        ),
    ]  # fmt: skip
    return [section("errors", "Errors", listed(facts), el("div", charts, class_="charts"))]


def _errors(found: Labelled) -> Section:
    text = f"{counted(found.n_wrong, found.noun)} of {number(found.n_examples)} "
    text += f"{'is' if found.n_wrong == 1 else 'are'} wrong: an error of {percent(found.error, 2)}."
    if found.n_unknown:
        has = "has a label" if found.n_unknown == 1 else "have labels"
        text += f" {counted(found.n_unknown, found.noun)} {has} that the model does not know, and so wrong."
    areas = {curve.label: curve for curve in found.curves} if len(found.classes) > 2 else {}
    head = ["Class", "Precision", "Recall", "F1", "True", "Predicted"] + (
        ["ROC area", "Mean precision"] if areas else []
    )
    rows = []
    for label, rates in list(zip(found.classes, found.rates, strict=True))[:MOST_ROWS]:
        more = []
        if areas:
            curve = areas.get(label)
            more = ["–", "–"] if curve is None else [f"{curve.area:.4f}", f"{curve.average_precision:.4f}"]
        rows.append((label, *_shares(rates), number(rates.n_true), number(rates.n_predicted), *more))
    layout = "beside" if len(found.classes) <= FEW_CLASSES else "stack"
    rates_table = table(head, rows, "Rates of each class")
    return section("errors", "Errors", el("p", text), el("div", _confusion(found), rates_table, class_=layout))


def _shares(rates: ChunkCounts) -> list[str]:
    nothing = "–"
    return [
        percent(rates.precision) if rates.n_predicted else nothing,
        percent(rates.recall) if rates.n_true else nothing,
        percent(rates.f1) if rates.n_true + rates.n_predicted else nothing,
    ]


def _confusion(found: Labelled) -> Markup:
    counts = found.confusion
    totals = counts.sum(axis=1)
    if len(found.classes) > MOST_CLASSES:
        off = counts - np.diag(np.diag(counts))
        order = [place for place in np.argsort(-off, axis=None, kind="stable")[:MOST_PAIRS].tolist() if off.flat[place]]
        pairs = [(place // len(counts), place % len(counts)) for place in order]
        rows = [
            (found.classes[j], found.classes[k], number(int(off[j, k])), percent(off[j, k] / totals[j]))
            for j, k in pairs
        ]
        head = ("True", "Predicted", found.noun.capitalize() + "s", "Of the true")
        return table(head, rows, "Classes that are taken for others most often", text_columns=(0, 1))
    made = []
    for j, label in enumerate(found.classes):
        cells = []
        for k in range(len(found.classes)):
            count, rate = int(counts[j, k]), counts[j, k] / max(totals[j], 1)
            kind = "right" if j == k else "wrong" if count else "none"
            share = el("small", percent(float(rate))) if count else None
            tone = rate if j == k else rate**0.5  # or few errors would not be seen
            cells.append(el("td", el("b", number(count)), share, class_=f"n {kind}", style=f"--tone:{tone:.3f}"))
        made.append((label, *cells))
    matrix = table(("True", *found.classes), made, "Confusion matrix", class_="heat")
    note = "Rows are true classes, columns predicted ones. Shares are of the row."
    return el("div", matrix, el("p", note, class_="note"))


def _chunks(found: Labelled) -> Section | None:
    scores = found.chunks
    if scores is None:
        return None
    rows: list[Any] = []
    for name, own in [("All chunks", scores), *scores.by_type.items()]:
        bar = el("span", class_="weight for", style=f"width:{100 * own.f1:.1f}%")
        shares = [percent(own.precision, 2), percent(own.recall, 2), percent(own.f1, 2)]
        room = el("td", el("span", bar, class_="room"), class_="bar")
        rows.append((name, *shares, room, number(own.n_true), number(own.n_predicted), number(own.n_correct)))
    head = ("Type", "Precision", "Recall", "F1", "", "Chunks", "Predicted", "Correct")
    text = f"A predicted chunk is correct if a true one has its type and its positions. F1 is {percent(scores.f1, 2)}."
    made = table(head, rows, "Chunks of each type", class_="weights")
    return section("chunks", "Chunks", el("p", text), made)


def _margins(found: Labelled) -> Section | None:
    if not len(found.margins):
        return None
    edges, counts = margin_bins(found.margins, BINS)
    middle = (edges[:-1] + edges[1:]) / 2
    within = int(np.sum((found.margins > 0) & (found.margins <= 1)))
    wrong, beyond = int(np.sum(found.margins <= 0)), int(np.sum(found.margins > 1))
    groups = [
        (f"wrong: {number(wrong)}", "s1", middle < 0),
        (f"within the margin: {number(within)}", "s0", (middle > 0) & (middle < 1)),
        (f"beyond it: {number(beyond)}", "rest", middle >= 1),
    ]
    rows = [
        (f"{number(float(low), 4)} to {number(float(high), 4)}", number(int(count)))
        for low, high, count in zip(edges, edges[1:], counts, strict=False)
    ]
    summary = f"{number(wrong)} are wrong, {number(within)} within the margin, {number(beyond)} beyond it."
    made = table(("Margin", f"{found.noun.capitalize()}s"), rows, "Margins")
    chart = bar_chart("Histogram of margins", summary, edges, groups, counts, "margin", [0.0, 1.0], made)
    whose = "its decision, times -1 for the first class"
    if len(found.classes) > 2:
        whose = "the score of the right class less the best of the others"
    article = "an" if found.noun == "example" else "a"
    text = f"The margin of {article} {found.noun} is {whose}: below 0 it is predicted wrong."
    facts = [
        ("Wrong, at most 0", f"{number(wrong)} ({percent(wrong / len(found.margins))})"),
        ("Right, but within the margin of 1", f"{number(within)} ({percent(within / len(found.margins))})"),
        ("Beyond the margin", f"{number(beyond)} ({percent(beyond / len(found.margins))})"),
        ("Median margin", number(float(np.median(found.margins)), 4)),
    ]
    words = el("div", el("p", text), listed(facts))
    return section("margins", "Margins", el("div", chart, words, class_="charts"))


class Kind(NamedTuple):
    """A kind of curve: its title, what sums it up and what that is called, and its columns with their names."""

    title: str
    sum: str
    sum_name: str
    x: str
    x_name: str
    y: str
    y_name: str
    cuts: str
    diagonal: bool


KINDS = (
    Kind("Precision and recall", "average_precision", "mean precision", "recall", "recall", "precision", "precision",
         "cuts", False),
    Kind("ROC curve", "area", "area under the ROC curve", "false_rate", "false positives", "true_rate",
         "true positives", "thresholds", True),
)  # fmt: skip


def _curves(curves: list[Curve]) -> list[Markup]:
    """Those of the only class, or of the hardest of several."""
    shown = sorted(curves, key=lambda curve: curve.average_precision)[:COLOURS]
    return [_curve_chart(shown, len(curves), kind) for kind in KINDS] if shown else []


def _curves_told(curves: list[Curve]) -> str:
    """Whose they are, and what sums them up."""
    if len(curves) == 1:
        own = [f"{kind.sum_name} {getattr(curves[0], kind.sum):.4f}" for kind in KINDS]
        return f"Every threshold of the score of {curves[0].label}: {' and '.join(own)}."
    whose = f"the {COLOURS} hardest of {len(curves)} classes" if len(curves) > COLOURS else "each class"
    sums = " and the ".join(kind.sum_name for kind in KINDS)
    return f"Every threshold of the score of {whose}; the legends have the {sums}."


def _curve_chart(shown: list[Curve], count: int, kind: Kind) -> Markup:
    lines, rows = [], []
    for curve in shown:
        own = [getattr(curve, name).tolist() for name in (kind.x, kind.y, kind.cuts)]
        texts = [(percent(x), percent(y), number(cut, 4)) for x, y, cut in zip(*own, strict=True)]
        name = "" if count == 1 else f"{curve.label}\n"
        tips = [f"{name}{kind.x_name} {x}\n{kind.y_name} {y}\ndecision at least {cut}" for x, y, cut in texts]
        lines.append(series(f"{curve.label}: {getattr(curve, kind.sum):.4f}", own[0], own[1], tips))
        rows += [(curve.label, *texts[k]) for k in thin(len(texts), max(ROWS // len(shown), 8)).tolist()]
    summary = f"The legend has the {kind.sum_name} of each class."
    if count == 1:
        summary = f"{kind.sum_name.capitalize()} {getattr(shown[0], kind.sum):.4f}."
    head = ("Class", kind.x_name.capitalize(), kind.y_name.capitalize(), "Decision at least")
    return line_chart(
        kind.title, summary, lines, kind.x_name, kind.y_name, unit=True, diagonal=kind.diagonal,
        table=table(head, rows, f"{kind.x_name.capitalize()} and {kind.y_name}"),
    )  # fmt: skip
