"""The problem of all classes jointly, as handed to a solver."""

from dataclasses import dataclass

from pegasos._core import native

__all__ = ["JointProblem"]


@dataclass(frozen=True)
class JointProblem:
    """Minimise ``1/2 ||W||^2 + C sum_i s_i l(x_i W, y_i)``; see `cpp/multiclass.hpp` for the losses."""

    core: native.JointProblem
    n_rows: int
    dimension: int  # of a column of W: the features and the intercept
    n_classes: int
    entries: float  # in all rows together
    C: float
    total_weight: float

    @property
    def alpha(self) -> float:
        """The papers' lambda."""
        return 1 / (self.C * self.total_weight)
