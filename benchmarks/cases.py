"""The problems that `run.py` states to all contenders."""

from dataclasses import dataclass

from datasets import REAL, load
from objective import Problem

__all__ = ["CASES", "TINY", "Case"]


@dataclass(frozen=True)
class Case:
    """A problem whose data are not loaded yet."""

    data: str
    loss: str = "hinge"
    C: float = 1.0
    intercept: str = "none"
    gamma: float | None = None
    parameter: float = 0.0
    joint: bool = False

    @property
    def real(self) -> bool:
        return self.data.partition(":")[0] in REAL

    def problem(self) -> Problem | None:
        """None where its data are not here."""
        data = load(self.data)
        if data is None:
            return None
        return Problem(data, self.loss, self.C, self.intercept, self.gamma, self.parameter, self.joint)


OF_LABELS = ("hinge", "squared_hinge", "log_loss")
OF_TARGETS = (("epsilon_insensitive", 0.1), ("squared_epsilon_insensitive", 0.1), ("huber", 0.5), ("quantile", 0.8))
OF_CLASSES = (("hinge", False), ("hinge", True), ("log_loss", True))  # joint or not

LINEAR = [
    *(Case("adult", loss) for loss in OF_LABELS),
    Case("adult", C=1000.0),
    Case("web"),
    *(Case("rcv1", loss) for loss in OF_LABELS),
    Case("rcv1", C=0.05),
    Case("covtype-dense:50000"),
    Case("reuters"),
    *(Case("text", loss) for loss in OF_LABELS),
    Case("text", C=0.05),
    Case("text", C=10.0),
    *(Case("dense", loss) for loss in OF_LABELS),
    Case("dense", "hinge", intercept="penalized"),
    Case("dense", "log_loss", intercept="free"),
    *(Case("breast-cancer", loss) for loss in OF_LABELS),
    Case("breast-cancer", "hinge", intercept="penalized"),
    Case("breast-cancer", "log_loss", intercept="free"),
]
TARGETS = [
    Case(name, loss, parameter=parameter)
    for name in ("diabetes", "dense-values", "housing")
    for loss, parameter in OF_TARGETS
]
CLASSES = [
    Case(name, loss, joint=joint) for name in ("digits", "dense-classes", "newsgroups") for loss, joint in OF_CLASSES
]
KERNEL = [
    Case("digits-8", gamma=0.02, intercept="free"),
    Case("digits", gamma=0.02, intercept="free"),
    Case("dense-narrow", gamma=0.1, intercept="free"),
    Case("dense-narrow:3000", C=10.0, gamma=0.1, intercept="free"),
    Case("diabetes", "epsilon_insensitive", gamma=0.1, parameter=0.1, intercept="free"),
    Case("adult-single:8000", gamma=0.05, intercept="free"),
    Case("mnist8:6000", gamma=0.02, intercept="free"),
    Case("covtype-dense:6000", gamma=1.0, intercept="free"),
    Case("housing:6000", "epsilon_insensitive", gamma=0.1, parameter=0.1, intercept="free"),
]
SEQUENCES = [Case("chunks", C=0.1), Case("conll2000:2000", C=0.1)]
CASES = [*SEQUENCES, *KERNEL, *CLASSES, *TARGETS, *LINEAR]

#: To see that everything runs.
TINY = [
    *(Case("tiny", loss) for loss in OF_LABELS),
    Case("tiny-dense", "hinge", intercept="penalized"),
    Case("tiny-dense", "log_loss", intercept="free"),
    Case("tiny-dense", intercept="free"),
    *(Case("tiny-values", loss, parameter=parameter) for loss, parameter in OF_TARGETS),
    *(Case("tiny-classes", loss, joint=joint) for loss, joint in OF_CLASSES),
    Case("tiny-dense", gamma=0.1, intercept="free"),
    Case("tiny-classes", gamma=0.02, intercept="free"),
    Case("tiny-values", "epsilon_insensitive", gamma=0.1, parameter=0.1, intercept="free"),
    Case("tiny-values", "quantile", gamma=0.1, parameter=0.8, intercept="free"),
    Case("tiny-chunks", C=0.1),
]
