"""Listeners that users give: they hear of every check of a fit, may look at its weights, and may end it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from pegasos.base.progress import Passing, Progress, Weights
from pegasos.certificate import relative_gap

__all__ = ["Check", "listen"]


class Check:
    """A check of a fit, as a listener receives it.

    Attributes
    ----------
    estimator : str
        The name of the estimator's class.
    part : str
        Which of several problems was checked: a class, a pair of classes, or a fold and its C. Empty if there is only
        one problem.
    seconds, epoch : float
        The time since the fit began, and the epochs of this problem so far.
    primal, dual, gap : float
        The best bounds so far, as in `Certificate`.
    """

    def __init__(self, estimator: str, part: str, record: tuple[float, float, float, float], weights: Weights) -> None:
        self.estimator, self.part = estimator, part
        self.seconds, self.epoch, self.primal, self.dual = record
        self.gap = relative_gap(self.primal, self.dual)
        self.stopped = False
        self._weights = weights

    def __repr__(self) -> str:
        part = f", {self.part}" if self.part else ""
        return f"<check of {self.estimator}{part}: gap {self.gap:.2g}, epoch {self.epoch:.4g}, {self.seconds:.2f} s>"

    def weights(self) -> dict[str, Any]:
        """The attributes that the estimator would have if the problem ended here, by their names; a copy.

        Linear estimators have ``coef_`` and ``intercept_``; for one class against the rest, its row. Kernel estimators
        have ``beta``, the coefficients of the examples with the numbers ``rows``, and ``intercept_``: the decision on x
        is ``sum(beta[i] * kernel(X[rows[i]], x)) + intercept_``. `SequenceSVC` has ``coef_``, ``intercept_``,
        ``transitions_``, ``start_`` and ``end_``, and `FeatureMapSVC` has ``coef_``. Call it only within the listener.
        Without a call it costs nothing.
        """
        named: dict[str, Any] = self._weights()
        return named

    def stop(self) -> None:
        """End the fit here, with ``reason="callback"``; with several problems, end this problem."""
        self.stopped = True


Listener = Callable[[Check], object]

_LISTENERS: ContextVar[tuple[Listener, ...]] = ContextVar("pegasos_listeners", default=())


@contextmanager
def listen(heard: Listener) -> Iterator[None]:
    """Call a function at every check of the fits in this block; the function may end them.

    If a fit has several problems, such as each class against the rest, each problem has checks. With `n_jobs` the calls
    come from several threads, one at a time. If the function raises an error, the fit ends and the estimator stays as
    it was. The function is not called for fits that it makes itself. It is called for fits in threads that inherit the
    context of the block: those of `asyncio.to_thread` and, in Python without a global lock, by default all that the
    block starts.

    Parameters
    ----------
    heard : callable
        The function. It is called with a `Check`, which has the bounds, ``weights()`` and ``stop()``.

    Examples
    --------
    >>> import pegasos
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, 20, flip_y=0.2, random_state=0)
    >>> def stop_soon(check):
    ...     if check.gap < 0.1:
    ...         check.stop()
    >>> with pegasos.listen(stop_soon):
    ...     clf = pegasos.LinearSVC(solver="pegasos", tol=1e-6, max_iter=10**6, random_state=0).fit(X, y)
    >>> clf.certificate_.reason, clf.certificate_.gap < 0.1
    ('callback', True)
    """
    if not callable(heard):
        raise TypeError(f"listen({heard!r}): must be a function, which is called with each check")
    token = _LISTENERS.set((*_LISTENERS.get(), heard))
    try:
        yield
    finally:
        _LISTENERS.reset(token)


@contextmanager
def unheard() -> Iterator[None]:
    """Fits in this block, which a listener makes, are not told of."""
    token = _LISTENERS.set(())
    try:
        yield
    finally:
        _LISTENERS.reset(token)


def told(progress: Progress, estimator: str) -> Progress:
    """The listener, and with it those of this block, if there are any."""
    listeners = _LISTENERS.get()
    return Told(progress, estimator, "", listeners, threading.Lock()) if listeners else progress


class Told(Passing):
    """Tells functions of the checks of a problem, one at a time."""

    def __init__(
        self, progress: Progress, estimator: str, name: str, listeners: tuple[Listener, ...], lock: threading.Lock
    ) -> None:
        super().__init__(progress)
        self.estimator, self.name = estimator, name
        self.listeners, self.lock = listeners, lock

    def checked(self, seconds: float, epoch: float, primal: float, dual: float, weights: Weights) -> bool:
        stop = super().checked(seconds, epoch, primal, dual, weights)
        check = Check(self.estimator, self.name, (seconds, epoch, primal, dual), weights)
        with self.alone():
            for heard in self.listeners:
                heard(check)
        return stop or check.stopped

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While nobody else of the fit calls functions."""
        with self.lock, unheard():
            yield

    def part(self, name: str, number: int, of: int) -> "Told":
        return Told(self.progress.part(name, number, of), self.estimator, self.named(name), self.listeners, self.lock)

    def named(self, part: str) -> str:
        """What a part of this one is called."""
        return f"{self.name}, {part}" if self.name else part
