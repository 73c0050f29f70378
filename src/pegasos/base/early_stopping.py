"""Stopping by the score on examples held out, in place of the certificate."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos.base.outcome import Budget, Point, Solution, Start
from pegasos.base.progress import Progress, Shifted


def split(
    y: NDArray[Any], fraction: float, seed: int, classes: bool = True
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Examples to train on and examples to hold out; of `classes`, of each in proportion."""
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit  # slow to import

    kind = StratifiedShuffleSplit if classes else ShuffleSplit
    try:
        train, test = next(kind(1, test_size=fraction, random_state=seed).split(y, y))
    except ValueError as error:
        raise ValueError(
            f"early_stopping=True holds out validation_fraction={fraction} of {len(y)} examples"
            f"{', some of every class' if classes else ''}: "
            f"{str(error).rstrip('.')}; change validation_fraction, or leave early_stopping out"
        ) from error
    return np.sort(train), np.sort(test)


def stop_early(
    solve: Callable[[Budget, Start[Point] | None, Progress], Solution[Point]],
    score: Callable[[NDArray[np.float64]], float],
    budget: Budget,
    start: Start[Point] | None,
    progress: Progress,
    patience: int,
) -> Solution[Point]:
    """Solve epoch by epoch, until the score of the weights has not improved for so many epochs.

    `solve` is given the budget of one epoch, where to start and whom to tell. What is returned has the weights of the
    best score and the best bound of all epochs; where `tol` is reached, the weights that reached it.
    """
    best = bound = None
    highest, stale, epochs = -np.inf, 0, 0.0
    records: list[list[float]] = []
    for epoch in range(1, int(budget.max_iter) + 1):
        try:
            found = solve(replace(budget, max_iter=1), start, Shifted(progress, epochs))
            value = score(found.point.w)
        except KeyboardInterrupt:
            if not (budget.keep and best):
                raise
            found = replace(found, reason="interrupt")
            break
        stale = 0 if value > highest else stale + 1
        if best is None or value > highest:
            best, highest = found, value
        if bound is None or found.bounds.dual > bound.bounds.dual:
            bound = found
        for seconds, passed, primal, dual in found.records:
            records.append([seconds, passed + epochs, primal, max(dual, records[-1][3] if records else dual)])
        epochs += found.epochs
        if found.reason == "tol":
            best = found
        elif budget.max_time is not None and found.seconds >= budget.max_time:
            found = replace(found, reason="max_time")  # an epoch may be too short to look at the clock
        if found.reason != "max_iter" or stale >= patience or epoch == budget.max_iter:
            break
        start = found.start
        budget = replace(budget, elapsed=found.seconds)
    reason = "early_stopping" if found.reason == "max_iter" and stale >= patience else found.reason
    assert best is not None
    assert bound is not None
    bounds = best.bounds._replace(dual=bound.bounds.dual, below=bound.bounds.below)
    return replace(
        best,
        point=Point(best.point.w, bound.point.q),
        bounds=bounds,
        t=found.t,
        epochs=epochs,
        seconds=found.seconds,
        reason=reason,
        records=[*records, [found.seconds, epochs, bounds.primal, bounds.dual]],
    )
