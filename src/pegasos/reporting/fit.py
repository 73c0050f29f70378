"""Sections of a report on the fit: what was trained, its certificate, how it got there, what it weighs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pegasos.certificate import Certificate, History, rounds
from pegasos.reporting import words
from pegasos.reporting.charts import COLOURS, line_chart, series, thin
from pegasos.reporting.markup import Markup, details, el, number, relative, seconds, table
from pegasos.sequence.svc import SequenceSVC
from pegasos.summary import Weights, beginning_of, histories_of, links_of, work_of

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
    told = words.sentences(found, float(machine.tol), bool(getattr(solver, "maximises_margin", False)))
    facts = [
        ("Upper bound (primal)", number(found.primal, 8)),
        ("Lower bound (dual)", number(found.dual, 8)),
        ("Relative gap", f"{found.gap:.3g}"),
        ("Asked for (tol)", f"{machine.tol:g}"),
        ("Work", rounds(found)),
        ("Time of the fit", seconds(found.seconds)),
        ("Solver", found.solver),
    ]
    return section("certificate", "Certificate", [el("p", text) for text in told], listed(facts), _parts(found))


def _lower_bound(machine: Any) -> str:
    bound = getattr(machine, "lower_bound_", None)
    return "" if bound is None else f"No weights have less than {number(bound)} in the mean over these examples."


def _parts(found: Certificate) -> Markup | None:
    if not found.parts:
        return None
    order = sorted(found.parts, key=lambda part: -part.gap)[:MOST_ROWS]
    rows = [
        (part.problem, f"{part.gap:.3g}", "yes" if part.converged else part.reason, number(part.n_iter),
         number(part.primal), number(part.dual))
        for part in order
    ]  # fmt: skip
    head = ("Problem", "Gap", "Converged", "Epochs", "Primal", "Dual")
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
    names = {"epoch": work, "seconds": "seconds" if len(traces) == 1 else "seconds of each"}
    views = [
        el("div", _bounds_chart(traces, axis, name), _gap_chart(traces, axis, name), class_=f"charts by-{axis}")
        for axis, name in names.items()
    ]
    buttons = [
        el(
            "label",
            el("input", type="radio", name="axis", id=f"axis-{axis}", checked=axis == "epoch"),
            el("span", name.removesuffix(" of each")),
        )
        for axis, name in names.items()
    ]
    switch = el("fieldset", el("legend", "Against"), buttons, class_="switch")
    return section(
        "convergence",
        "Convergence",
        el("p", "The optimum is between the two bounds at every moment. The fit ends when they are close enough."),
        el("p", "An epoch of interior-point makes three passes over the examples.", class_="note")
        if work == "passes"
        else None,
        switch,
        views,
        details("The checks as a table", _trace_table(traces, work)),
    )


def _bounds_chart(traces: list[tuple[str, History]], axis: str, name: str) -> Markup | None:
    if len(traces) > 1:
        return None
    _, trace = traces[0]
    tips = _tips("", trace, name)
    lines = [series("primal, the upper bound", trace[axis], trace["primal"], tips)]
    lower = series("dual, the lower bound", trace[axis], trace["dual"], tips, "dashed", 0)
    summary = f"From {number(trace['primal'][0])} and {number(trace['dual'][0])} to {number(trace['primal'][-1])} and "
    summary += f"{number(trace['dual'][-1])}."
    return line_chart(
        "Bounds on the optimum", summary, [*lines, lower], WORK[name], "objective", between=len(lower.x) > 0
    )


def _gap_chart(traces: list[tuple[str, History]], axis: str, work: str) -> Markup:
    worst = sorted(range(len(traces)), key=lambda k: (-traces[k][1]["gap"][-1], k))[:MOST_LINES]
    chosen = [traces[k] for k in sorted(worst)]
    lines = [
        series(name or "gap", _along(trace, axis, work), trace["gap"], _tips(name, trace, work))
        for name, trace in chosen
    ]
    left = len(traces) - len(chosen)
    title = "Relative gap" + (f" of the {len(chosen)} worst of {len(traces)} problems" if left else "")
    ends = [trace["gap"][-1] for _, trace in chosen]
    return line_chart(title, f"It falls to {max(ends):.3g}.", lines, WORK[work], "relative gap", y_log=True)


def _along(trace: History, axis: str, work: str) -> Any:
    """Where the checks are; each of several problems begins at 0."""
    return trace[axis] - beginning_of(trace) if work == "seconds of each" else trace[axis]


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
        head, told = [*head, "Standard error", "Norm of the weights"], f"{told} ± {{}}\nnorm {{}}"
    rows = list(zip(*columns, strict=True))
    axis = what if is_loss else "error"
    line = series(axis, machine.Cs_, errors, [told.format(*row) for row in rows])
    chart = line_chart(
        f"The {what}, along C" if is_loss else "What the score lacks to 1, along C",
        f"The C chosen is {machine.C_:.4g}.", [line], "C", axis, x_log=True,
        table=table(head, rows, "Scores along C"),
    )  # fmt: skip
    rule = getattr(machine, "rule", "best")
    text = f"Of {len(rows)} values, C = {machine.C_:.4g} was chosen by the folds' scores ({rule})."
    return section("path", "Choice of C", el("p", text), el("div", chart, class_="charts"))


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
    most, rows = max(map(abs, one.values)), []
    for name, value in zip(one.names, one.values, strict=True):
        kind = "for" if value > 0 else "against"
        bar = el("span", class_=f"weight {kind}", style=f"width:{100 * abs(value) / most:.1f}%")
        rows.append((name, el("td", el("span", bar, class_="room"), class_="bar"), f"{value:+#.4g}"))
    title = f"Weights of {one.title}" if one.title else "Weights"
    return table(("Feature", "", "Weight"), rows, title, class_="weights")


def transitions(machine: Any) -> Section | None:
    """The weights of one label after another."""
    if not isinstance(machine, SequenceSVC) or len(machine.classes_) > MOST_LABELS:
        return None
    weights, names, columns = links_of(machine)
    most = float(np.abs(weights[np.isfinite(weights)]).max(initial=0.0)) or 1.0
    rows = []
    for name, own in zip(names, weights.tolist(), strict=True):
        cells = []
        for value in own:
            text = f"{value:+.2f}" if np.isfinite(value) else ("never" if np.isneginf(value) else "")
            tone = f"--tone:{abs(value) / most:.3f}" if np.isfinite(value) else None
            cells.append(el("td", text, class_=f"n {'for' if value > 0 else 'against'}" if tone else "n", style=tone))
        rows.append((name, *cells))
    made = table(("After", *columns), rows, "Weights of a label (row) followed by another (column)", class_="heat")
    return section(
        "transitions", "Transitions", details("Weights of one label after another", made, open_=len(names) < 12)
    )


def relative_or_none(found: Certificate | None) -> str:
    """The gap for the top of the page."""
    return "–" if found is None else relative(found.gap)  # noqa: RUF001
