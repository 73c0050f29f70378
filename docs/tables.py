"""The tables of solvers in the documentation, made of what the solvers declare: ``python docs/tables.py`` writes them.

A table stands between the comments ``<!-- table NAME -->`` and ``<!-- end of table -->``.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from pegasos import solvers
from pegasos.base.solver import LOSSES, Solver
from pegasos.problems.kernel import KernelProblem
from pegasos.problems.linear import JOINT_LOSSES, BlocksProblem, JointProblem, LinearProblem, StreamProblem
from pegasos.problems.sequence import SequenceProblem

ROOT = Path(__file__).parent.parent

#: What the tables call each kind of problem.
KINDS = {
    "linear": LinearProblem,
    "all classes jointly": JointProblem,
    "kernel": KernelProblem,
    "sequences": SequenceProblem,
    "streams": StreamProblem,
    "larger than memory": BlocksProblem,
}

#: Where the tables are, each with the way from there to the pages of the solvers; links of the README are absolute, for
#: PyPI shows it.
FILES = {
    "README.md": "https://github.com/pegasos-svm/pegasos/blob/main/docs/solvers/",
    "docs/solvers/index.md": "",
    "docs/losses/index.md": "../solvers/",
    "docs/kernel.md": "solvers/",
}


def render(header: str, rows: Iterable[Iterable[str]]) -> str:
    names = header.split(", ")
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def called(cls: type[Solver]) -> str:
    """What users call it: "auto" is a name only."""
    return f"`{cls.__name__}`" if cls.__name__ in solvers.__all__ else f'`"{cls.name}"`'


def page(cls: type[Solver], folder: str) -> str:
    page = cls.name if (ROOT / "docs" / "solvers" / f"{cls.name}.md").exists() else cls.name.partition("-")[0]
    return f"[{called(cls)}]({folder}{page}.md)"


def method(cls: type[Solver]) -> str:
    """The first line of its documentation."""
    line = (cls.__doc__ or "").partition("\n")[0]
    return line.replace("``", "`").replace("|", r"\|").rstrip(".")


def yes(value: bool) -> str:
    return "yes" if value else "no"


def all_solvers(folder: str) -> str:
    rows = [
        [page(cls, folder), f'`"{cls.name}"`', method(cls), ", ".join(n for n, k in KINDS.items() if k in cls.supports)]
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
            rows.append([page(cls, folder), losses, intercepts, yes(able.continued), yes(able.early_stopping)])
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


TABLES = {
    "of all solvers": all_solvers,
    "of the solvers of linear problems": of_kind(LinearProblem),
    "of the solvers of all classes jointly": of_kind(JointProblem),
    "of the solvers with a kernel": of_kind(KernelProblem),
    "of the solvers by loss": losses,
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
