"""The page of the documentation, made of the stored results of full runs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from reproduce.common.experiment import (
    FAILED,
    NOT_RUN,
    REPRODUCED,
    WITH_A_DIFFERENCE,
    Experiment,
    Report,
    Table,
    claims_table,
)
from reproduce.common.store import IMAGES, RESULTS, Store

__all__ = ["summary", "written"]

#: What headings call the papers.
PAPERS = {
    "S0": "Pegasos (2011)",
    "S2": "Overview of Pegasos",
    "S3": "SGD revisited (2013)",
    "S4": "Stochastic batch perceptron (2012)",
}
VERDICTS = (REPRODUCED, WITH_A_DIFFERENCE, FAILED, NOT_RUN)


def reports(experiments: Sequence[Experiment]) -> Iterator[tuple[Experiment, Store, Report]]:
    for experiment in experiments:
        store = Store(RESULTS / f"{experiment.store_name}.json")
        yield experiment, store, experiment.report(store.values)


def summary(experiments: Sequence[Experiment]) -> str:
    """How many claims of each table and figure have which verdict."""
    rows, total = [], Counter[str]()
    for experiment, _, report in reports(experiments):
        counts = Counter(claim.verdict for claim in report.claims)
        total += counts
        title = heading(experiment)
        anchor = f"[{title}](#{slug(title)})"
        rows.append([anchor, *(str(counts[verdict] or "") for verdict in VERDICTS)])
    rows.append(["**all**", *(f"**{total[verdict]}**" for verdict in VERDICTS)])
    return str(Table(["table or figure", *VERDICTS], rows))


def written(experiments: Sequence[Experiment]) -> str:
    """A section for each table and figure: how it was measured, the numbers, charts, and every claim with a verdict."""
    parts = []
    for experiment, store, report in reports(experiments):
        lines = [f"## {heading(experiment)}", report.notes, told(store.entries)]
        lines += [str(table) for table in report.tables] if store.entries else []
        for chart in report.charts:
            if (IMAGES / f"{chart.name}.svg").exists():
                mark = "{.panels}" if len(chart.panels) > 1 else ""  # keeps its size on a phone
                lines.append(f"![{chart.alt}](images/reproduction/{chart.name}.svg){mark}")
        lines.append(str(claims_table(report.claims)))
        lines.append(f"`python -m reproduce.{experiment.name}`")
        parts.append("\n\n".join(line for line in lines if line))
    return "\n\n".join(parts)


def heading(experiment: Experiment) -> str:
    """The title, with the paper by its name."""
    paper, _, rest = experiment.title.partition(" ")
    return f"{PAPERS[paper]}, {rest}"


def slug(title: str) -> str:
    """The anchor that the heading gets."""
    kept = "".join(sign for sign in title.lower() if sign.isalnum() or sign in " -_")
    return kept.replace(" ", "-")


def told(entries: dict[str, Any]) -> str:
    """When and with what the results were made."""
    if not entries:
        return "No full run is stored."
    made = [entry["made"] for entry in entries.values()]
    dates = sorted({one["date"] for one in made})
    machines = sorted({f"{one['processor']}, {one['processors']} processors" for one in made})
    loads = [one["load"] for one in made]
    versions = sorted({", ".join(f"{name} {number}" for name, number in one["versions"].items()) for one in made})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return (
        f"Measured {when} on {'; '.join(machines)}, with a load of {min(loads):g} to {max(loads):g}, "
        f"in {sum(one['seconds'] for one in made) / 60:.1f} minutes. {'; '.join(versions)}."
    )
