"""The methods: one class per algorithm, holding only that algorithm's options."""

from typing import Any

from sklearn.base import clone

from pegasos.solvers.auto import Auto
from pegasos.solvers.base import Solver
from pegasos.solvers.constant_step import ConstantStep
from pegasos.solvers.interior_point import InteriorPoint
from pegasos.solvers.norm_ball import NormBall
from pegasos.solvers.norma import Norma
from pegasos.solvers.pegasos import Pegasos
from pegasos.solvers.perceptron import Perceptron
from pegasos.solvers.sdca import SDCA
from pegasos.solvers.sgd import SGDM, SGDR, SGDS

__all__ = [
    "SDCA",
    "SGDM",
    "SGDR",
    "SGDS",
    "SOLVERS",
    "ConstantStep",
    "InteriorPoint",
    "NormBall",
    "Norma",
    "Pegasos",
    "Perceptron",
    "Solver",
    "resolve",
]

#: Solvers by the name that stands for them with their default options.
SOLVERS: dict[str, type[Solver]] = {
    cls.name: cls
    for cls in (Auto, SDCA, SGDS, SGDM, SGDR, Pegasos, Norma, ConstantStep, NormBall, Perceptron, InteriorPoint)
}


def resolve(solver: Any) -> Solver:
    """The solver object meant by a name or an object; its options are checked."""
    if isinstance(solver, str):
        if solver not in SOLVERS:
            known = ", ".join(repr(known) for known in SOLVERS)
            raise ValueError(f"solver={solver!r}: must be {known}, or an object from pegasos.solvers")
        solver = SOLVERS[solver]()
    elif not isinstance(solver, Solver):
        raise ValueError(
            f"solver={solver!r}: must be the name of a solver or an object from pegasos.solvers, such as SDCA()"
        )
    solver.check()
    return clone(solver)
