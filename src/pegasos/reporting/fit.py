"""Sections of a report on the fit: what was trained, its certificate, how it got there, what it weighs."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from pegasos.certificate import Certificate, History, rounds
from pegasos.reporting import words
from pegasos.reporting.charts import COLOURS, line_chart, series, thin
from pegasos.reporting.markup import Markup, details, el, number, relative, seconds, table
from pegasos.sequence.svc import SequenceSVC
from pegasos.summary import Weights, beginning_of, decimals, histories_of, links_of, passes_of, starts_late, work_of

#: Problems that have a line of their own in a chart, classes whose weights are shown, and rows of a long table.
MOST_LINES, MOST_CLASSES, MOST_ROWS = COLOURS, 24, 500
#: Labels up to which the weights of transitions are shown.
MOST_LABELS = 40

#: What the work is called on an axis; a pass reads all examples once.
WORK = {
    "epochs": "epochs",
    "passes": "passes over the examples",
    "seconds": "seconds",
    "seconds of each": "seconds since each problem began",
    "seconds of the solver": "seconds since the solver began",
}


class Section(Markup):
    """A part of the page, which has a name in it, and a title."""

    name: str
    heading: str


def section(name: str, title: str, *children: Any) -> Section:
    """A part of the page."""
    heading = el("h2", title, id=f"{name}-title")
    made = Section(el("section", heading, children, id=name, aria_labelledby=f"{name}-title", tabindex="-1"))
    made.name, made.heading = name, title
    return made


def listed(facts: Sequence[tuple[str, str]]) -> Markup:
    """Names and values; a long value has the room of two."""
    made = [
        el("div", el("dt", name), el("dd", value), class_="wide" if len(value) > 24 else None) for name, value in facts
    ]
    return el("dl", made, class_="facts")


def certificate(machine: Any, found: Certificate | None) -> Section:
    """The certificate in words and figures."""
    if found is None:
        told = getattr(machine, "progressive_", None)
        seen = f" {number(told.n_rows)} examples were met once, with a mean loss of {number(told.loss)}" if told else ""
        known = f" before each was learned from. {_lower_bound(machine)}" if told else ""
        return section("certificate", "Certificate", el("p", f"This model learned in one pass.{seen}{known}"))
    solver = getattr(machine, "solver", "auto")
    work = work_done(machine, found)
    told = words.sentences(found, float(machine.tol), work, bool(getattr(solver, "maximises_margin", False)))
    facts = [
        ("Upper bound (primal)", number(found.primal, 8)),
        ("Lower bound (dual)", number(found.dual, 8)),
        ("Relative gap", f"{found.gap:.3g}"),
        ("Asked for (tol)", f"{float(machine.tol):g}"),
        ("Work", work if work == rounds(found) else f"{work}, {rounds(found)}"),
        ("Time of the fit", seconds(found.seconds)),
        ("Solver", _solvers(found)),
    ]
    parts = _parts(found, passes_of(machine))
    return section("certificate", "Certificate", [el("p", text) for text in told], listed(facts), parts)


def work_done(machine: Any, found: Certificate) -> str:
    """How much work a fit was, in the unit of its chart."""
    passes = passes_of(machine)
    return f"{number(max(passes))} passes" if passes else rounds(found)


def _solvers(found: Certificate) -> str:
    """Those of the problems, where they are not the same."""
    counts = Counter(part.solver for part in found.parts)
    if len(counts) < 2:
        return found.solver
    return "; ".join(f"in {number(count)} of {number(len(found.parts))} {name}" for name, count in counts.most_common())


def _lower_bound(machine: Any) -> str:
    bound = getattr(machine, "lower_bound_", None)
    return "" if bound is None else f"No weights have less than {number(bound)} in the mean over these examples."


def _answer(part: Certificate) -> str:
    if part.converged is None:
        return "not asked"
    return "yes" if part.converged else part.reason


def _parts(found: Certificate, passes: list[int]) -> Markup | None:
    if not found.parts:
        return None
    work = passes or [part.n_iter for part in found.parts]
    order = sorted(zip(found.parts, work, strict=True), key=lambda one: -one[0].gap)[:MOST_ROWS]
    rows = [
        (part.problem, f"{part.gap:.3g}", _answer(part), number(count),
         number(part.primal), number(part.dual))
        for part, count in order
    ]  # fmt: skip
    head = ("Problem", "Gap", "Converged", "Passes" if passes else "Epochs", "Primal", "Dual")
    more = "" if len(order) == len(found.parts) else f", the {len(order)} with the largest gap"
    return details(
        f"The {number(len(found.parts))} problems{more}", table(head, rows, "Problems, the largest gap first")
    )


def convergence(machine: Any) -> Section | None:
    """How the bounds closed on each other, against epochs and seconds."""
    if not hasattr(machine, "history_"):
        return None
    traces = [(name, history) for name, history in histories_of(machine) if len(history["gap"])]
    if not traces:
        return None
    work = work_of(machine)
    if all(len(history["gap"]) == 1 for _, history in traces):
        text = "One check of the bounds was enough, so there is no curve to draw."
        return section(
            "convergence", "Convergence", el("p", text), details("The check as a table", _trace_table(traces, work))
        )
    late = starts_late(traces[0][1])
    names = {"epoch": work, "seconds": "seconds of the solver" if late else "seconds"}
    if len(traces) > 1:
        names["seconds"] = "seconds of each"
    views = [
        el("div", _bounds_chart(traces, axis, name), _gap_chart(traces, axis, name), class_=f"charts by-{axis}")
        for axis, name in names.items()
    ]
    buttons = [
        el(
            "label",
            el("input", type="radio", name="axis", id=f"axis-{axis}", checked=axis == "epoch"),
            el("span", name.partition(" of ")[0]),
        )
        for axis, name in names.items()
    ]
    switch = el("fieldset", el("legend", "Against"), buttons, class_="switch")
    return section(
        "convergence",
        "Convergence",
        el("p", "The optimum is between the two bounds at every moment. The fit ends when they are close enough."),
        el("p", _passes_told(machine.certificate_), class_="note") if work == "passes" else None,
        switch,
        views,
        details("The checks as a table", _trace_table(traces, work), class_="points"),
    )


def _passes_told(found: Certificate) -> str:
    """What a pass is, and of which problems."""
    own = [part for part in found.parts if "InteriorPoint" in part.solver]
    where = f" in {len(own)} of the {number(len(found.parts))} problems" if 0 < len(own) < len(found.parts) else ""
    return f"A pass reads all examples once. An epoch of interior-point, which was used{where}, makes three."


def _bounds_chart(traces: list[tuple[str, History]], axis: str, name: str) -> Markup | None:
    if len(traces) > 1:
        return None
    _, trace = traces[0]
    tips = _tips("", trace, name)
    along = _along(trace, axis, name)
    lines = [series("primal, the upper bound", along, trace["primal"], tips)]
    lower = series("dual, the lower bound", along, trace["dual"], tips, "dashed", 0)
    summary = f"From {number(trace['primal'][0])} and {number(trace['dual'][0])} to {number(trace['primal'][-1])} and "
    summary += f"{number(trace['dual'][-1])}."
    return line_chart(
        "Bounds on the optimum", summary, [*lines, lower], WORK[name], "objective", between=len(lower.x) > 0
    )


def _gap_chart(traces: list[tuple[str, History]], axis: str, work: str) -> Markup:
    worst = sorted(range(len(traces)), key=lambda k: (-traces[k][1]["gap"][-1], k))[:MOST_LINES]
    chosen = [traces[k] for k in sorted(worst)]
    lines = [
        series(f"{name}: {_gap(trace['gap'][-1])}", _along(trace, axis, work), trace["gap"], _tips(name, trace, work))
        for name, trace in chosen
    ]
    left = len(traces) - len(chosen)
    title = "Relative gap" + (f" of the {len(chosen)} worst of {len(traces)} problems" if left else "")
    ends = [trace["gap"][-1] for _, trace in chosen]
    return line_chart(title, f"It falls to {max(ends):.3g}.", lines, WORK[work], "relative gap", y_log=True)


def _along(trace: History, axis: str, work: str) -> Any:
    """Where the checks are; each of several problems begins at 0, and so does a solver that began late."""
    return trace[axis] - beginning_of(trace) if work.startswith("seconds of") else trace[axis]


def _tips(name: str, trace: History, work: str) -> list[str]:
    first = f"{name}\n" if name else ""
    noun = "passes" if work == "passes" else "epoch"
    rows = zip(*(trace[key].tolist() for key in ("epoch", "seconds", "primal", "dual", "gap")), strict=True)
    return [
        f"{first}{noun} {epoch:.4g}, {seconds(time)}\nprimal {number(primal)}\n"
        + (f"dual {number(dual)}\ngap {gap:.3g}" if np.isfinite(gap) else "no bound yet")
        for epoch, time, primal, dual, gap in rows
    ]


def _gap(gap: float) -> str:
    return f"{gap:.3g}" if np.isfinite(gap) else "no bound yet"


def _trace_table(traces: list[tuple[str, History]], work: str) -> Markup:
    several, rows = len(traces) > 1, []
    each = max(MOST_ROWS // len(traces), 2)
    for name, trace in traces[:MOST_ROWS]:
        for k in thin(len(trace["gap"]), each).tolist():
            values = [f"{trace['epoch'][k]:.4g}", f"{trace['seconds'][k]:.4g}"]
            values += [number(float(trace[key][k])) for key in ("primal", "dual")] + [_gap(trace["gap"][k])]
            rows.append([name, *values] if several else values)
    head = ["Passes" if work == "passes" else "Epoch", "Seconds", "Primal", "Dual", "Gap"]
    return table(["Problem", *head] if several else head, rows, "Bounds at the checks of the fit")


def along_C(machine: Any) -> Section | None:
    """What cross-validation found."""
    if not hasattr(machine, "mean_score_"):
        return None
    is_loss = getattr(machine, "scored_by_", "").endswith("loss")  # of quantiles, from the command
    errors = machine.mean_score_ if is_loss else 1 - machine.mean_score_
    columns = [(f"{C:.4g}" for C in machine.Cs_), (number(float(score), 4) for score in machine.mean_score_)]
    what = machine.scored_by_ if is_loss else "score"
    head, told = ["C", f"Mean {what}"], f"C = {{}}\n{what} {{}}"
    if hasattr(machine, "norms_"):  # the command keeps scores alone
        columns.append(number(float(deviation), 2) for deviation in machine.standard_error_)
        columns.append(number(float(norm), 4) for norm in machine.norms_.mean(axis=0))
        head, told = [*head, "Standard error", "Norm"], f"{told} ± {{}}\nnorm {{}}"
    rows = list(zip(*columns, strict=True))
    axis = what if is_loss else "error"
    bars = getattr(machine, "standard_error_", None)
    line = series(axis, machine.Cs_, errors, [told.format(*row) for row in rows], spread=bars)
    chart = line_chart(
        f"{axis.capitalize()} along C", f"The C chosen is {machine.C_:.4g}.", [line], "C", axis, x_log=True,
        mark=(float(machine.C_), f"C = {machine.C_:.3g}"),
    )  # fmt: skip
    rule = {"best": "the best mean", "one_standard_error": "the smallest within one standard error of the best"}
    text = f"Of {len(rows)} values, C = {machine.C_:.4g} was chosen by the scores of the folds"
    text += f": {rule[machine.rule]}. Bars reach one standard error up and down." if bars is not None else "."
    made = table(head, rows, "Scores along C")
    return section("path", "Choice of C", el("p", text), el("div", chart, made, class_="charts"))


def features(largest: list[Weights], n_features: int) -> Section | None:
    """The features with the largest weights, of each class."""
    shown = [one for one in largest if one.names][:MOST_CLASSES]
    if not shown:
        return None
    left = len(largest) - len(shown)
    text = f"The largest of {number(n_features)} weights, of either sign. A bar is as long as its weight is large."
    note = el("p", f"{number(left)} more classes are not shown.", class_="note") if left > 0 else None
    return section("features", "Top features", el("p", text), note, el("div", map(_bars, shown), class_="tables"))


def _bars(one: Weights) -> Markup:
    low, high = min(0.0, *one.values), max(0.0, *one.values)
    zero, rows = -low / (high - low), []
    for name, value in zip(one.names, one.values, strict=True):
        kind, width = "for" if value > 0 else "against", abs(value) / (high - low)
        left = zero - (width if value < 0 else 0.0)
        bar = el("span", class_=f"weight {kind}", style=f"width:{100 * width:.1f}%;margin-left:{100 * left:.1f}%")
        room = el("span", bar, class_="room", style=f"--zero:{100 * zero:.1f}%")
        rows.append((name, el("td", room, class_="bar"), f"{value:+#.4g}".removesuffix(".")))
    title = f"Weights of {one.title}" if one.title else "Weights"
    return table(("Feature", "", "Weight"), rows, title, class_="weights")


def transitions(machine: Any) -> Section | None:
    """The weights of one label after another."""
    if not isinstance(machine, SequenceSVC) or len(machine.classes_) > MOST_LABELS:
        return None
    weights, names, columns = links_of(machine)
    most = float(np.abs(weights[np.isfinite(weights)]).max(initial=0.0)) or 1.0
    rows, digits = [], max(2, decimals(most, 2))
    for name, own in zip(names, weights.tolist(), strict=True):
        cells = []
        for value in own:
            text = f"{value:+z.{digits}f}" if np.isfinite(value) else ("never" if np.isneginf(value) else "")
            tone = f"--tone:{abs(value) / most:.3f}" if np.isfinite(value) else None
            cells.append(el("td", text, class_=f"n {'for' if value > 0 else 'against'}" if tone else "n", style=tone))
        rows.append((name, *cells))
    made = table(("After", *columns), rows, "Weights of a label (row) followed by another (column)", class_="heat")
    return section(
        "transitions", "Transitions", details("Weights of one label after another", made, open_=len(names) < 12)
    )


def relative_or_none(found: Certificate | None) -> str:
    """The gap for the top of the page."""
    return "–" if found is None else relative(found.gap)
