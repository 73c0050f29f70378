"""The methods: one class per algorithm, holding only that algorithm's options."""

from pegasos.base.solver import Solver
from pegasos.solvers.adagrad import AdaGrad
from pegasos.solvers.auto import Auto
from pegasos.solvers.constant_step import ConstantStep
from pegasos.solvers.frank_wolfe import FrankWolfe
from pegasos.solvers.interior_point import InteriorPoint
from pegasos.solvers.norm_ball import NormBall
from pegasos.solvers.norma import Norma
from pegasos.solvers.pegasos import Pegasos
from pegasos.solvers.perceptron import Perceptron
from pegasos.solvers.sbp import SBP
from pegasos.solvers.sdca import SDCA
from pegasos.solvers.sgd import SGDM, SGDR, SGDS
from pegasos.solvers.smo import SMO

__all__ = [
    "KERNEL_SOLVERS",
    "SBP",
    "SDCA",
    "SEQUENCE_SOLVERS",
    "SGDM",
    "SGDR",
    "SGDS",
    "SMO",
    "SOLVERS",
    "STREAM_SOLVERS",
    "AdaGrad",
    "ConstantStep",
    "FrankWolfe",
    "InteriorPoint",
    "NormBall",
    "Norma",
    "Pegasos",
    "Perceptron",
    "Solver",
]

#: Solvers of linear machines by the name that stands for them with their default options.
SOLVERS: dict[str, type[Solver]] = {
    cls.name: cls
    for cls in (Auto, SDCA, SGDS, SGDM, SGDR, Pegasos, Norma, ConstantStep, NormBall, Perceptron, InteriorPoint)
}

#: Those of kernel machines.
KERNEL_SOLVERS: dict[str, type[Solver]] = {cls.name: cls for cls in (Auto, SMO, SDCA, SBP, Pegasos, Perceptron)}

#: Those of streams, of which each example is met once.
STREAM_SOLVERS: dict[str, type[Solver]] = {cls.name: cls for cls in (Auto, Pegasos, AdaGrad)}

#: Those of sequences of labels.
SEQUENCE_SOLVERS: dict[str, type[Solver]] = {cls.name: cls for cls in (Auto, FrankWolfe, Pegasos)}
