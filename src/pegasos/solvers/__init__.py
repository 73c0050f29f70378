"""The methods: one class per algorithm, with only the options of that algorithm."""

from typing import Any

from pegasos.base.solver import Solver
from pegasos.problems.kernel import KernelProblem
from pegasos.problems.linear import LinearProblem, StreamProblem
from pegasos.problems.sequence import SequenceProblem
from pegasos.solvers.adagrad import AdaGrad
from pegasos.solvers.auto import Auto
from pegasos.solvers.frank_wolfe import FrankWolfe
from pegasos.solvers.interior_point import InteriorPoint
from pegasos.solvers.lasvm import LASVM
from pegasos.solvers.mpu import MPU
from pegasos.solvers.newton import Newton
from pegasos.solvers.ocas import OCAS
from pegasos.solvers.pegasos import Pegasos
from pegasos.solvers.perceptron import Perceptron
from pegasos.solvers.sbp import SBP
from pegasos.solvers.sdca import SDCA
from pegasos.solvers.sgd import SGDM, SGDR, SGDS
from pegasos.solvers.sgd_qn import SGDQN
from pegasos.solvers.simba import SIMBA
from pegasos.solvers.smo import SMO
from pegasos.solvers.step_sizes import ConstantStep, Norma, NormBall, SvmSgd

__all__ = [
    "ALL",
    "KERNEL_SOLVERS",
    "LASVM",
    "MPU",
    "OCAS",
    "SBP",
    "SDCA",
    "SEQUENCE_SOLVERS",
    "SGDM",
    "SGDQN",
    "SGDR",
    "SGDS",
    "SIMBA",
    "SMO",
    "SOLVERS",
    "STREAM_SOLVERS",
    "AdaGrad",
    "ConstantStep",
    "FrankWolfe",
    "InteriorPoint",
    "Newton",
    "NormBall",
    "Norma",
    "Pegasos",
    "Perceptron",
    "Solver",
    "SvmSgd",
    "solvers_of",
]

#: All of them.
ALL: tuple[type[Solver], ...] = (
    Auto,
    SMO,
    LASVM,
    SDCA,
    SBP,
    SIMBA,
    SGDS,
    SGDM,
    SGDR,
    FrankWolfe,
    Pegasos,
    AdaGrad,
    Norma,
    ConstantStep,
    NormBall,
    Perceptron,
    SvmSgd,
    SGDQN,
    MPU,
    OCAS,
    InteriorPoint,
    Newton,
)


def solvers_of(kind: type[Any]) -> dict[str, type[Solver]]:
    """The solvers of a kind of problem: a dictionary from their names to their classes."""
    return {cls.name: cls for cls in ALL if kind in cls.supports}


SOLVERS = solvers_of(LinearProblem)
KERNEL_SOLVERS = solvers_of(KernelProblem)
#: Those of streams, of which each example is met once.
STREAM_SOLVERS = solvers_of(StreamProblem)
SEQUENCE_SOLVERS = solvers_of(SequenceProblem)
