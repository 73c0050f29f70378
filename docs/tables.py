"""Tables of the documentation: of what solvers declare, and of what was found.

That is by `make faults`, `make reproduce` and `benchmarks/run.py`.

``python docs/tables.py`` writes them. A table stands between the comments ``<!-- table NAME -->`` and
``<!-- end of table -->``.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pegasos import solvers
from pegasos.base.solver import LOSSES, Solver
from pegasos.problems.kernel import KernelProblem
from pegasos.problems.linear import JOINT_LOSSES, BlocksProblem, JointProblem, LinearProblem, StreamProblem
from pegasos.problems.sequence import SequenceProblem

ROOT = Path(__file__).parent.parent
sys.path += [str(ROOT), str(ROOT / "benchmarks")]

import summary  # noqa: E402
from reproduce.common import page  # noqa: E402
from reproduce.experiments import EXPERIMENTS  # noqa: E402

#: What the tables call each kind of problem.
KINDS = {
    "linear": LinearProblem,
    "all classes jointly": JointProblem,
    "kernel": KernelProblem,
    "sequences": SequenceProblem,
    "streams": StreamProblem,
    "larger than memory": BlocksProblem,
}

#: Where the tables are, each with the way from there to the pages of the solvers.
FILES = {
    "docs/solvers/index.md": "",
    "docs/losses/index.md": "../solvers/",
    "docs/kernel.md": "solvers/",
    "docs/reliability.md": "",
    "docs/reproduction.md": "",
    "docs/benchmarks.md": "",
}

#: What can come of a fault; of the last four there must be none.
OUTCOMES = ("refused", "unharmed", "crash", "hang", "lost work", "silent change")


#: A cell of a number: such columns stand at the right.
A_NUMBER = re.compile(r"(\*\*)?-?[\d,.]+(\xa0m?s)?(\*\*)?|not reached|")


def render(header: str, rows: Iterable[Iterable[str]]) -> str:
    """The table.

    >>> print(render("name, epochs", [["a", "12"], ["b", ""]]))
    | name | epochs |
    | --- | ---: |
    | a | 12 |
    | b | – |
    """
    names, rows = header.split(", "), [list(row) for row in rows]
    rules = ["---:" if all(map(A_NUMBER.fullmatch, column)) else "---" for column in zip(*rows, strict=True)]
    lines = [names, rules, *rows]
    return "\n".join(f"| {' | '.join(cell or '–' for cell in cells)} |" for cells in lines)


def called(cls: type[Solver]) -> str:
    """What users call it: "auto" is a name only."""
    return f"`{cls.__name__}`" if cls.__name__ in solvers.__all__ else f'`"{cls.name}"`'


def link(cls: type[Solver], folder: str) -> str:
    name = cls.name if (ROOT / "docs" / "solvers" / f"{cls.name}.md").exists() else cls.name.partition("-")[0]
    return f"[{called(cls)}]({folder}{name}.md)"


def method(cls: type[Solver]) -> str:
    """The first line of its documentation."""
    line = (cls.__doc__ or "").partition("\n")[0]
    return line.replace("``", "`").replace("|", r"\|").rstrip(".")


def yes(value: bool) -> str:
    return "yes" if value else "no"


def all_solvers(folder: str) -> str:
    rows = [
        [link(cls, folder), f'`"{cls.name}"`', method(cls), ", ".join(n for n, k in KINDS.items() if k in cls.supports)]
        for cls in solvers.ALL
    ]
    return render("class, name, method, problems", rows)


def of_kind(kind: type) -> Callable[[str], str]:
    """The solvers of one kind of problem, with what they support."""

    def table(folder: str) -> str:
        rows = []
        for cls in solvers.solvers_of(kind).values():
            able = cls.supports[kind]
            losses = "all" if set(able.losses) == set(LOSSES) else ", ".join(f'`"{loss}"`' for loss in able.losses)
            intercepts = ", ".join(able.intercepts) or "none"
            rows.append([link(cls, folder), losses, intercepts, yes(able.continued), yes(able.early_stopping)])
        return render("class, losses, intercepts, `warm_start`, `early_stopping`", rows)

    return table


def losses(folder: str) -> str:
    """The solvers of each loss."""

    def of_loss(kind: type, loss: str) -> str:
        able = solvers.solvers_of(kind).values()
        return ", ".join(called(cls) for cls in able if loss in cls.supports[kind].losses)

    rows = [[f'`"{loss}"`', of_loss(LinearProblem, loss)] for loss in LOSSES]
    rows += [[f'`"{loss}"`, joint', of_loss(JointProblem, loss)] for loss in JOINT_LOSSES]
    return render("loss, solvers", rows)


def faults(folder: str) -> str:
    """What came of the faults that `make faults` injected; of several kinds, and of all."""
    found = json.loads((ROOT / "docs" / "reliability.json").read_text(encoding="utf-8"))
    rows = [[row["kind"], row["how"], *(f"{row[outcome]:,}" for outcome in OUTCOMES)] for row in found["kinds"]]
    sums = [f"**{sum(row[outcome] for row in found['kinds']):,}**" for outcome in OUTCOMES]
    told = f"{found['faults']:,} faults, seed {found['seed']}; {found['system']}, Python {found['python']}."
    return f"{told}\n\n" + render(f"fault, how, {', '.join(OUTCOMES)}", [*rows, ["**all**", "", *sums]])


def _run() -> dict[str, Any]:
    """What `benchmarks/run.py` found; the files of the documentation hold one published run."""
    return summary.read(ROOT / "docs" / "benchmarks" / "run.json")


def run_details(folder: str) -> str:
    """Where, when and with what the run was made."""
    run = _run()
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    clock = "processor seconds" if run["clock"] == "cpu" else "seconds that passed"
    threads = "one thread each" if run["threads"] == 1 else "threads as each package takes them by itself"
    told = (
        f"Run of {run['date']}: {run['processor']}, {run['processors']} processors, {run['system']}, "
        f"Python {run['python']}; load {min(run['load'])} to {max(run['load'])}. Times are {clock}, with {threads}. "
        f"Versions: {versions}."
    )
    missing = ", ".join(run["not_installed"])
    return f"{told} Not installed: {missing}." if missing else told


def rivals(folder: str) -> str:
    """One row for each package, over all problems."""

    def cell(one: summary.Ratio | None) -> str:
        return "" if one is None else f"{one.ratio:.2g} ({one.problem['problem']})"

    run = _run()
    rows = [
        [
            one.package,
            f"{one.stated}",
            f"{one.reached}",
            f"{one.mean:.2f}" if one.reached else "",
            cell(one.worst),
            cell(one.best),
        ]
        for one in summary.summaries(run)
    ]
    rows += [[name, "not installed", "", "", "", ""] for name in run["not_installed"]]
    return render("package, problems, reached, geometric mean, worst for us, best for us", rows)


def rivals_by_problem(folder: str) -> str:
    """A table for each kind of problem: our time, and each package's divided by it."""
    run = _run()
    clock, ratios = summary.clock_of(run), summary.best_ways(run)
    parts = []
    for group in dict.fromkeys(map(summary.group_of, run["problems"])):
        problems = [one for one in run["problems"] if summary.group_of(one) == group]
        able = {line["peer"] for one in problems for line in one["contenders"][1:]}
        packages = [name for name in run["versions"] if name in able]
        rows = []
        for one in problems:
            found = {each.package: f"{each.ratio:.2f}" for each in ratios if each.problem is one}
            stated = {line["peer"] for line in one["contenders"]}
            cells = [found.get(name, "not reached" if name in stated else "") for name in packages]
            size = f"{one['rows']:,} x {one['features']:,}" if one["features"] else f"{one['rows']:,} sequences"
            rows.append([one["problem"], size, time(one["contenders"][0][clock]), *cells])
        title = f"**{group[0].upper()}{group[1:]}**"
        parts.append(f"{title}\n\n" + render(", ".join(["problem", "size", "pegasos", *packages]), rows))
    return "\n\n".join(parts)


def time(seconds: float) -> str:
    """With its unit, which stays on its line.

    >>> time(0.000764), time(1.25)
    ('0.764\\xa0ms', '1.25\\xa0s')
    """
    return f"{seconds * 1e3:.3g}\xa0ms" if seconds < 0.1 else f"{seconds:.3g}\xa0s"


def where_rivals_are_faster(folder: str) -> str:
    """By more than 1.1 times."""
    rows = [
        [one.problem["problem"], time(one.ours), one.way, time(one.theirs), f"{1 / one.ratio:.2f}"]
        for one in summary.losses(_run())
    ]
    return render("problem, pegasos, the fastest, its time, times as fast", rows) if rows else "Nowhere."


TABLES = {
    "of the benchmark run": run_details,
    "of rivals": rivals,
    "of rivals by problem": rivals_by_problem,
    "where rivals are faster": where_rivals_are_faster,
    "of all solvers": all_solvers,
    "of the solvers of linear problems": of_kind(LinearProblem),
    "of the solvers of all classes jointly": of_kind(JointProblem),
    "of the solvers with a kernel": of_kind(KernelProblem),
    "of the solvers by loss": losses,
    "of faults": faults,
    "of verdicts": lambda folder: page.summary(EXPERIMENTS),
    "of all claims": lambda folder: page.written(EXPERIMENTS),
}


def written(path: str) -> str:
    """The file, with its tables as they should be."""

    def fill(found: re.Match[str]) -> str:
        return f"<!-- table {found[1]} -->\n\n{TABLES[found[1]](FILES[path])}\n\n<!-- end of table -->"

    text = (ROOT / path).read_text(encoding="utf-8")
    return re.sub(r"<!-- table (.*?) -->.*?<!-- end of table -->", fill, text, flags=re.DOTALL)


if __name__ == "__main__":
    for name in FILES:
        (ROOT / name).write_text(written(name), encoding="utf-8")
