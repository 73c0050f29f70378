"""The methods: one class per algorithm, holding only that algorithm's options."""

from typing import Any

from sklearn.base import clone

from pegasos.solvers.base import Solver
from pegasos.solvers.constant_step import ConstantStep
from pegasos.solvers.norma import Norma
from pegasos.solvers.pegasos import Pegasos

__all__ = ["SOLVERS", "ConstantStep", "Norma", "Pegasos", "Solver", "resolve"]

#: Solvers by the name that stands for them with their default options.
SOLVERS: dict[str, type[Solver]] = {cls.name: cls for cls in (Pegasos, Norma, ConstantStep)}

#: What ``solver="auto"`` stands for.
AUTO = "pegasos"


def resolve(solver: Any) -> Solver:
    """The solver object meant by a name or an object; its options are checked."""
    if isinstance(solver, str):
        name = AUTO if solver == "auto" else solver
        if name not in SOLVERS:
            known = ", ".join(repr(known) for known in ["auto", *SOLVERS])
            raise ValueError(f"solver={solver!r}: must be {known}, or an object from pegasos.solvers")
        solver = SOLVERS[name]()
    elif not isinstance(solver, Solver):
        raise ValueError(
            f"solver={solver!r}: must be the name of a solver or an object from pegasos.solvers, such as Pegasos()"
        )
    solver.check()
    return clone(solver)
