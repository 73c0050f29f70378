"""``pegasos train --C auto``: the C that cross-validation prefers."""

import warnings
from dataclasses import fields
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning

from pegasos.io.dataset import Dataset
from pegasos.kernel.estimator import KernelMachine
from pegasos.linear.cv import CVParameters, LinearSVCCV
from pegasos.linear.svc import LinearSVC

FOLDS = 5
#: Where each C is a fit of its own: fewer than along a path.
GRID, KERNEL_GRID = np.logspace(-3, 1, 9), np.logspace(-1, 3, 9)


class Chosen(NamedTuple):
    """What was tried, and what came of it."""

    C: float
    Cs: NDArray[np.float64]
    scores: NDArray[np.float64]  # the mean over the folds
    score: str  # what it is

    def __str__(self) -> str:
        best = float(self.scores[self.Cs == self.C][0])
        found = f"{best:.4f}" if self.score == "R^2" else f"{best:.2%}"
        end = {float(self.Cs[0]): ", the smallest", float(self.Cs[-1]): ", the largest"}.get(self.C, "")
        tried = f"{len(self.Cs)} tried from {self.Cs[0]:g} to {self.Cs[-1]:g}"
        return f"C        {self.C:.4g}{end} of {tried}; cross-validation in {FOLDS} folds: {self.score} {found}"

    def to_dict(self) -> dict[str, Any]:
        return {"C": self.C, "Cs": self.Cs.tolist(), "mean_scores": self.scores.tolist()}


def choose_C(machine: Any, X: Any, y: Any, weights: Any) -> Chosen:
    """The C of the best mean score; of equal ones the smallest."""
    if isinstance(X, Dataset):
        X, y, weights = X.X, X.y, X.sample_weight
    counts = np.unique(y, return_counts=True)[1] if is_classifier(machine) else np.array([len(y)])
    few = counts.max() < FOLDS or (counts.size == 2 and counts.min() < 2)
    if few or (is_classifier(machine) and counts.size < 2):
        raise click.UsageError(f"--C auto needs more examples for {FOLDS} folds of cross-validation; name a C")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")  # which changes nothing
        if counts.size == 2 and isinstance(machine, LinearSVC) and machine.multi_class == "ovr":
            return _by_path(machine, X, y, weights)
        return _by_grid(machine, X, y, weights)


def _by_path(machine: LinearSVC, X: Any, y: Any, weights: Any) -> Chosen:
    given = {one.name: getattr(machine, one.name) for one in fields(CVParameters) if hasattr(machine, one.name)}
    search = LinearSVCCV(**given | {"cv": FOLDS}).fit(X, y, weights)
    return Chosen(search.C_, search.Cs_, search.mean_score_, "accuracy")


def _by_grid(machine: Any, X: Any, y: Any, weights: Any) -> Chosen:
    """Each C in each fold is a fit."""
    from sklearn.model_selection import GridSearchCV, KFold  # not for all commands: it takes a while

    grid = KERNEL_GRID if isinstance(machine, KernelMachine) else GRID
    # Classes have equal shares in all folds; what has none may be sorted.
    folds = FOLDS if is_classifier(machine) else KFold(FOLDS, shuffle=True, random_state=0)
    weighted = {} if weights is None else {"sample_weight": weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tried = GridSearchCV(machine, {"C": grid.tolist()}, cv=folds, refit=False).fit(X, y, **weighted)
    mean = tried.cv_results_["mean_test_score"]
    return Chosen(float(grid[np.argmax(mean)]), grid, mean, "R^2" if is_regressor(machine) else "accuracy")
