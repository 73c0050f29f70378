"""What the problems of all kinds have."""

from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

__all__ = ["Problem"]

P = TypeVar("P")


@dataclass(frozen=True, kw_only=True)
class Problem(Generic[P]):
    """Minimise ``1/2 ||w||^2 + C sum_i s_i loss_i(w)``, where what is found is a point of type P."""

    #: What messages call problems of this kind.
    label: ClassVar[str] = ""
    #: Which estimators have such problems, for messages.
    estimators: ClassVar[str] = ""

    n_rows: int  # examples, or sequences
    C: float
    total_weight: float  # sum_i s_i
    loss: str

    @property
    def alpha(self) -> float:
        """The papers' lambda."""
        return 1 / (self.C * self.total_weight)
