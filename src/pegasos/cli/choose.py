"""``pegasos train --C auto``: the C that cross-validation prefers."""

import itertools
import sys
import warnings
from dataclasses import fields
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing

from pegasos.base import clock
from pegasos.base.threads import TimeShare
from pegasos.cli.predictions import PINBALL, pinball_loss
from pegasos.cli.talk import echo
from pegasos.cli.waiting import waiting
from pegasos.io.dataset import Dataset
from pegasos.kernel.estimator import KernelMachine
from pegasos.linear.cv import CVParameters, LinearSVCCV, choose_only
from pegasos.linear.out_of_core.machine import refuse_larger
from pegasos.linear.svc import LinearSVC
from pegasos.summary import multi_class_of

FOLDS = 5
#: Seconds of a fit for which there is no time left.
SHORTEST = 1e-3
#: Where each C is a fit of its own: fewer than along a path.
GRID, KERNEL_GRID = np.logspace(-3, 1, 9), np.logspace(-1, 3, 9)


class Chosen(NamedTuple):
    """What was tried, and what came of it."""

    C: float
    Cs: NDArray[np.float64]
    scores: NDArray[np.float64]  # the mean over the folds
    score: str  # what it is

    def __str__(self) -> str:
        found = show_score(self.score, float(self.scores[self.Cs == self.C][0]))
        end = {float(self.Cs[0]): ", the smallest", float(self.Cs[-1]): ", the largest"}.get(self.C, "")
        tried = f"{len(self.Cs)} tried from {self.Cs[0]:g} to {self.Cs[-1]:g}"
        return f"C        {self.C:.4g}{end} of {tried}; cross-validation in {FOLDS} folds: {found}"

    def to_dict(self) -> dict[str, Any]:
        return {"C": self.C, "score": self.score, "Cs": self.Cs.tolist(), "mean_scores": self.scores.tolist()}


def score_of(machine: Any) -> str:
    """What models are compared by: of a quantile its own loss, as R^2 is about the mean."""
    if not is_regressor(machine):
        return "accuracy"
    return PINBALL if machine.loss == "quantile" else "R^2"


def show_score(score: str, value: float) -> str:
    """What the score is, and its value."""
    return f"{score} {f'{value:.2%}' if score == 'accuracy' else f'{value:.4f}' if score == 'R^2' else f'{value:.6g}'}"


def choose_C(machine: Any, X: Any, y: Any, weights: Any, verbose: bool, started: float) -> Chosen:
    """The C of the best mean score, or of the least loss; of equal ones the smallest.

    Of `max_time`, which began when it `started`, the folds have like shares, and the last fit is as good as one more.
    """
    if isinstance(X, Dataset):
        refuse_larger(X, "--C auto")
        X, y, weights = X.load()
    counts = np.unique(y, return_counts=True)[1] if is_classifier(machine) else np.array([len(y)])
    if is_classifier(machine) and counts.size == 1:
        label = np.asarray(y)[:1].tolist()[0]
        raise click.UsageError(f"y has one class only, {label!r}; a classifier needs examples of two classes")
    if counts.max() < FOLDS or (counts.size == 2 and counts.min() < 2):
        raise click.UsageError(f"--C auto needs more examples for {FOLDS} folds of cross-validation; name a C")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")  # which changes nothing
        if isinstance(machine, LinearSVC) and multi_class_of(machine) == "ovr" and not machine.early_stopping:
            return _by_path(machine, X, y, weights, counts.size, verbose, started)
        with waiting("choosing C", shown=verbose):
            return _by_grid(machine, X, y, weights, verbose and not sys.stderr.isatty(), started)


def _by_path(machine: LinearSVC, X: Any, y: Any, weights: Any, n_classes: int, verbose: bool, started: float) -> Chosen:
    given = {one.name: getattr(machine, one.name) for one in fields(CVParameters) if hasattr(machine, one.name)}
    search = LinearSVCCV(**given | {"cv": FOLDS, "verbose": int(verbose)} | ({"Cs": GRID} if n_classes > 2 else {}))
    choose_only(search, X, y, weights, started)
    return Chosen(search.C_, search.Cs_, search.mean_score_, "accuracy")


def _by_grid(machine: Any, X: Any, y: Any, weights: Any, verbose: bool, started: float) -> Chosen:
    """Each C in each fold is a fit."""
    grid = KERNEL_GRID if isinstance(machine, KernelMachine) else GRID
    score, splits = _splits(machine, X, y, FOLDS)
    scores = np.empty((FOLDS, len(grid)))
    limit = None if machine.max_time is None else machine.max_time * FOLDS / (FOLDS + 1)
    share = TimeShare(limit, scores.size, 1)
    for (number, C), (fold, (train, test)) in itertools.product(enumerate(grid), enumerate(splits)):
        elapsed = clock.now() - started
        end = share.limit(elapsed)
        fitted = clone(machine).set_params(C=float(C), max_time=None if end is None else max(end - elapsed, SHORTEST))
        scores[fold, number] = _score_fold(fitted, X, y, weights, train, test)
        if verbose and fold == FOLDS - 1:
            found = show_score(score, scores[:, number].mean())
            text = f"{number + 1} of {len(grid)}, C={C:.3g}: {found}"
            echo(f"{text}  {clock.now() - started:.1f} s", err=True)
    mean = scores.mean(axis=0)
    best = np.argmin(mean) if score == PINBALL else np.argmax(mean)
    return Chosen(float(grid[best]), grid, mean, score)


def score_folds(machine: Any, X: Any, y: Any, weights: Any, folds: int) -> tuple[str, NDArray[np.float64]]:
    """What the score is, and that of each fold, with the parameters as they are."""
    counts = np.unique(y, return_counts=True)[1] if is_classifier(machine) else np.array([len(y)])
    if counts.max() < folds:
        raise click.UsageError(f"-v {folds} needs more examples for so many folds of cross-validation; give fewer")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")  # which changes nothing
        score, splits = _splits(machine, X, y, folds)
    return score, np.array([_score_fold(clone(machine), X, y, weights, *split) for split in splits])


def _splits(machine: Any, X: Any, y: Any, folds: int) -> tuple[str, list[Any]]:
    """What the score is, and the examples of each fold to train on and to test on."""
    from sklearn.model_selection import KFold, StratifiedKFold  # not for all commands: it takes a while

    # Classes have equal shares in all folds; what has none may be sorted.
    kind = StratifiedKFold(folds) if is_classifier(machine) else KFold(folds, shuffle=True, random_state=0)
    return score_of(machine), list(kind.split(X, y))


def _score_fold(machine: Any, X: Any, y: Any, weights: Any, train: Any, test: Any) -> float:
    own = {} if weights is None else {"sample_weight": weights[train]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(_safe_indexing(X, train), _safe_indexing(y, train), **own)
    X, y = _safe_indexing(X, test), _safe_indexing(y, test)
    if score_of(machine) == PINBALL:
        return pinball_loss(machine.predict(X), y, machine.quantile)
    return float(machine.score(X, y))
