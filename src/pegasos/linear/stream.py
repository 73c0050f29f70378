"""Learning from streams: `partial_fit` of the linear machines, and the learners behind it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_regressor
from sklearn.utils.multiclass import check_classification_targets

from pegasos._core import native
from pegasos.base.estimator import Data
from pegasos.base.options import check_options
from pegasos.base.outcome import refuse_overflow
from pegasos.base.parameters import loss_parameter
from pegasos.base.rows import make_rows
from pegasos.base.scaling import describe_offsets, describe_sizes
from pegasos.base.solver import Elsewhere, continued_seed, resolve
from pegasos.base.validation import check_weights, class_weights, require_targets
from pegasos.base.warn import warn
from pegasos.certificate import Certificate, History
from pegasos.io.dataset import Dataset
from pegasos.linear.estimator import LinearMachine
from pegasos.problems.linear import LinearProblem, StreamProblem
from pegasos.solvers import STREAM_SOLVERS, AdaGrad, Solver

Floats = NDArray[np.float64]
Encode = Callable[[NDArray[Any]], tuple[NDArray[Any], NDArray[Any]]]  # labels to the classes, and which each has

#: What an estimator must leave at one of these values for a stream, and why; the first is its default.
NOT_OF_STREAMS = {
    "multi_class": (("auto", "ovr"), "all classes together are trained on examples met again and again"),
    "scale": ((False, None), "the sizes of the columns of a stream are not known beforehand"),
    "checkpoint": (
        (None,),
        "each call is over soon, and what it learned is in the estimator, to be saved by save_model",
    ),
}


#: Columns whose mean is so many times their deviation are warned of, from so many rows on: at 10 AdaGrad has lost a
#: tenth of its accuracy, at 100 Pegasos a third, and at 1,000 both guess.
FAR_IN_STREAMS, ENOUGH_ROWS = 10.0, 30


class Progressive(NamedTuple):
    """How good predictions were, each made before its example was learned from.

    Parameters
    ----------
    loss : float
        Mean loss; of several classes the sum of each against the rest.
    error : float
        Share of wrong labels; in regression the mean squared error.
    weight : float
        Of all examples met.
    n_rows : int
        How many there were.
    """

    loss: float
    error: float
    weight: float
    n_rows: int


class Learner:
    """A learner in the core's hands, which can be copied, pickled and stored."""

    def __init__(self, solver: Solver, problem: StreamProblem) -> None:
        self.solver, self.problem = solver, problem
        self.core: native.Stream = solver.learner(problem)
        self._before: native.Stream | None = None

    def keep(self) -> None:
        """Remember what it knows now."""
        if self._before is None:
            self._before = self.solver.learner(self.problem)
        self._before.assign(self.core)

    def go_back(self) -> None:
        """To what it knew at the last `keep`."""
        assert self._before is not None
        self.core, self._before = self._before, self.core

    def resized(self, dimension: int) -> "Learner":
        """The same of so many features and the intercept, to which the last entry of each vector belongs."""
        other = Learner(self.solver, replace(self.problem, dimension=dimension))
        numbers, vectors = self.core.state()
        kept = min(self.problem.dimension, dimension) - 1
        room = np.zeros(dimension - 1 - kept)
        other.core.restore(numbers, [np.concatenate([v[:kept], room, v[-1:]]) for v in vectors])
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {"solver": self.solver, "problem": self.problem, "state": self.core.state()}

    def __setstate__(self, stored: dict[str, Any]) -> None:
        # An object that is unpickled is made by its constructor, as the core's part cannot be stored.
        self.__init__(stored["solver"], stored["problem"])  # type: ignore[misc]
        self.core.restore(*stored["state"])


class _NotOfStreams:
    """An attribute that says why it is not there after `partial_fit`; those of an object itself come before it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, machine: Any, owner: type) -> Any:
        if machine is None:
            return self
        if "_streams" not in machine.__dict__:
            raise AttributeError(f"{owner.__name__!r} object has no attribute {self.name!r}; it has after fit")
        raise AttributeError(
            f"no {self.name} after partial_fit: a certificate compares the objective on all examples with a bound on "
            "its optimum, and a stream does not keep its examples; progressive_ has what was predicted before each was "
            "learned from, and lower_bound_ (of Pegasos) a bound on the optimum over those met"
        )


class StreamMachine(LinearMachine):
    """A linear machine that can learn from a stream."""

    certificate_: Certificate = cast(Any, _NotOfStreams())
    history_: History | list[History] = cast(Any, _NotOfStreams())
    progressive_: Progressive
    classes_: Any  # of classification
    n_features_in_: int
    t_: int
    lower_bound_: float

    _streams: list[Learner]
    _stream_errors: float  # of several classes, which no single learner sees

    _looked_at = False  # whether columns were looked at, which is done once

    def _check_partial_fit(self) -> None:
        """Raise an AttributeError where the problem is not one of streams, so that hasattr is False."""
        if self.alpha is None and not (self.solver == AdaGrad.name or isinstance(self.solver, AdaGrad)):
            raise AttributeError(
                f"{type(self).__name__} has no partial_fit with C={self.C!r}: C weighs the loss of n examples against "
                "the norm, and n of a stream is not known; pass alpha = 1 / (C n), such as alpha=1e-5, or "
                "solver='adagrad', which has no norm"
            )

    def check_stream_parameters(self) -> Solver:
        """Raise a ValueError where a parameter is none of a stream; return the solver."""
        check_options(self, self.options)
        asked = resolve(self.solver, STREAM_SOLVERS)
        solver = asked.chosen_for(StreamProblem)
        elsewhere = Elsewhere(LinearProblem, "use fit", type(asked))
        self._refuse_unsupported(solver, StreamProblem, STREAM_SOLVERS, elsewhere)
        for name, ((default, *others), why) in NOT_OF_STREAMS.items():
            if getattr(self, name, default) not in (default, *others):
                raise ValueError(
                    f"{name}={getattr(self, name)!r} is not supported for a stream: {why}; use {name}={default!r}, or "
                    "fit"
                )
        if getattr(self, "class_weight", None) == "balanced":
            raise ValueError(
                "class_weight='balanced' is not supported for partial_fit, as the classes of a stream are not counted "
                "beforehand; pass a dict, or the weights of sklearn.utils.compute_class_weight on a sample"
            )
        return solver

    def _begin_stream(self, solver: Solver, n_features: int, n_outputs: int) -> None:
        """Learners that have met nothing, in place of the results of a fit."""
        problem = self._stream_problem(n_features + 1)
        self._streams = [Learner(solver, problem) for _ in range(n_outputs)]
        self._stream_errors = 0.0
        for name in ("certificate_", "history_", "_last", "lower_bound_"):
            self.__dict__.pop(name, None)

    def _stream_problem(self, dimension: int) -> StreamProblem:
        alpha = None if self.alpha is None else float(self.alpha)
        return StreamProblem(dimension, self.loss, loss_parameter(self)[1], alpha)

    def _check_same_stream(self, solver: Solver) -> None:
        before = self._streams[0]
        now = self._stream_problem(before.problem.dimension)
        if before.solver.get_params() != solver.get_params() or before.problem != now:
            raise ValueError(
                "solver, loss, epsilon, quantile or alpha changed since the first call of partial_fit, and a stream "
                "keeps its problem; set them back, or pass a new estimator"
            )

    def _learn(
        self, rows: native.Rows, targets: Sequence[Floats], s: Floats, seed: int | None
    ) -> list[native.Progress]:
        """Present each row once to the learner of each class, as they stand or in a random order."""
        if seed is not None:
            seed = continued_seed(seed, self._streams[0].core.progress.rows)
        several = len(targets) > 1
        scores = np.empty((len(targets), len(s))) if several else None
        told = []
        for k, (learner, y) in enumerate(zip(self._streams, targets, strict=True)):
            out = None if scores is None else scores[k]
            told.append(learner.core.learn(rows, y, s, native.Run(), seed=seed, scores=out))
        if scores is not None:
            owners = np.argmax(np.array(targets), axis=0)
            self._stream_errors += float(s @ (scores.argmax(axis=0) != owners))
        return told

    def _store_streams(self) -> None:
        """What the learners found, as attributes."""
        w = np.array([learner.core.w for learner in self._streams])
        refuse_overflow(w, of="weights and features", remedy="scale them, or raise alpha")
        self._store_weights(w[:, :-1].copy(), w[:, -1] * self._bias)
        told = [learner.core.progress for learner in self._streams]
        weight = told[0].weight or 1.0
        errors = self._stream_errors if len(told) > 1 else told[0].errors
        loss = sum(progress.loss for progress in told)
        self.progressive_ = Progressive(loss / weight, errors / weight, told[0].weight, told[0].rows)
        if self.alpha is not None:
            self.lower_bound_ = sum(learner.core.lower_bound() for learner in self._streams)
        self.t_ = told[0].rows
        self.n_iter_ = 1  # as in scikit-learn: a stream is one epoch
        self.scale_ = None
        self.store_parameters()

    def _refuse_dataset(self, X: Any) -> None:
        """Raise a TypeError that says how to learn from the pieces of a data set."""
        if isinstance(X, Dataset):
            labels = "" if is_regressor(self) else ", classes=dataset.labels.values"
            raise TypeError(
                "partial_fit takes arrays, not a data set: pass pieces of its X, y = dataset.X, dataset.y, such as "
                f"partial_fit(X[:1000], y[:1000]{labels}); or use fit(dataset), which needs not all of it in memory"
            )

    def _warn_of_offsets(self, X: Any, solver: Solver, who: str, more: str) -> None:
        """Warn once, at the first part that tells, of columns far from zero or of very different sizes."""
        if self._looked_at or X.shape[0] < ENOUGH_ROWS:
            return
        self._looked_at = True
        of_sizes = not isinstance(solver, AdaGrad)  # which has a step size for each column
        how = f"{more}: transform examples before they are learned from"
        names = getattr(self, "feature_names_in_", None)
        text = describe_offsets(X, names, how, FAR_IN_STREAMS)
        if not text and of_sizes:
            text = describe_sizes(X, names, f"scale them (sklearn.preprocessing.StandardScaler){how}")
        if text:
            warn(f"{who} learns little from these data. {text}")

    def _learn_part(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, encode: Encode, targets: Callable[[Data], list[Floats]]
    ) -> Self:
        """One call of `partial_fit`."""
        solver = self.check_stream_parameters()
        first = "_streams" not in self.__dict__
        if not first:
            self._check_same_stream(solver)
        require_targets(self, y)
        X, y = self._validate(X, y, order="C", accept_large_sparse=True, reset=first)
        weights = None if sample_weight is None else check_weights(sample_weight, X)
        data = Data(X, y, *encode(y), weights)
        s = np.ones(len(y)) if weights is None else weights.copy()
        self._weigh_classes(data, s)
        rows, _ = make_rows(X, self._bias)
        more = ", whose partial_fit takes a stream too"
        self._warn_of_offsets(X, solver, f"{type(self).__name__}.partial_fit", more)
        learned = targets(data)
        if first:
            self._begin_stream(solver, X.shape[1], len(learned))
        for learner in self._streams:
            learner.keep()
        try:
            self._learn(rows, learned, s, self._seed())
            self._store_streams()
        except BaseException:
            for learner in self._streams:
                learner.go_back()
            raise
        return self


class OnePass:
    """A pass over examples that come in parts, in their order, each learned from once. Features may become more.

    It is `partial_fit` without a matrix: rows are in the core's hands, and the estimator has its results in the end.
    """

    def __init__(self, machine: StreamMachine, classes: NDArray[Any], n_features: int) -> None:
        """`classes` are all labels there will be, none in regression."""
        self.machine, self.classes, self.n_features = machine, classes, n_features
        several = len(classes) if len(classes) > 2 else 1
        machine._begin_stream(machine.check_stream_parameters(), n_features, several)
        self._by_class = class_weights(getattr(machine, "class_weight", None), classes)

    @property
    def bias(self) -> float:
        """The value of the constant feature that rows must have; 0 is none."""
        return self.machine._bias

    @property
    def progress(self) -> list[native.Progress]:
        """What was met so far; of several classes a learner each."""
        return [learner.core.progress for learner in self.machine._streams]

    def grow(self, n_features: int) -> None:
        """Learn on with so many features: new ones weigh nothing yet, and those beyond are dropped."""
        self.machine._streams = [learner.resized(n_features + 1) for learner in self.machine._streams]
        self.n_features = n_features

    def look_at(self, X: Any, who: str) -> None:
        """Warn where examples, the first of all, are such that little is learned from them."""
        self.machine._warn_of_offsets(X, self.machine._streams[0].solver, who, "")

    def learn(self, rows: native.Rows, y: NDArray[Any], weights: Floats) -> list[native.Progress]:
        """Learn from examples with targets y, or y the numbers of their classes; progress of this part alone."""
        if not len(self.classes):
            return self.machine._learn(rows, [y], weights, seed=None)
        which = range(len(self.classes)) if len(self.classes) > 2 else [1]
        targets = [np.where(y == k, 1.0, -1.0) for k in which]
        return self.machine._learn(rows, targets, weights * self._by_class[y], seed=None)

    def finish(self) -> None:
        """Give the estimator its results."""
        self.machine.n_features_in_ = self.n_features
        if len(self.classes):
            self.machine.classes_ = self.classes
        self.machine._store_streams()


def known_classes(machine: Any, given: ArrayLike | None) -> NDArray[Any]:
    """All labels there will be: given with the first call of `partial_fit`, or those of a fit before it."""
    if "_streams" not in vars(machine):
        if given is None and hasattr(machine, "classes_"):
            return np.asarray(machine.classes_)
        if given is None:
            raise ValueError("classes must be passed on the first call to partial_fit: all labels there will be")
        known = np.unique(np.asarray(given))
        if len(known) < 2:
            raise ValueError(f"classes={known.tolist()}: a classifier needs two classes or more")
        return known
    known = np.asarray(machine.classes_)
    if given is not None and not np.array_equal(known, np.unique(np.asarray(given))):
        raise ValueError(
            f"`classes={given!r}` is not the same as on the first call to partial_fit: {known.tolist()}; leave it out, "
            "or pass a new estimator"
        )
    return known


def number_known_labels(y: NDArray[Any], known: NDArray[Any]) -> NDArray[np.intp]:
    """Which of the classes each example has."""
    check_classification_targets(y)
    numbers = np.searchsorted(known, y).clip(max=len(known) - 1)
    new = np.flatnonzero(known[numbers] != y)
    if len(new):
        raise ValueError(
            f"y[{new[0]}]={y[new[0]]!r} is none of the classes {known.tolist()} of the first call to partial_fit; pass "
            "all labels there will be as `classes` then"
        )
    return numbers
