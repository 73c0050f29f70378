"""The C that cross-validation prefers."""

import functools
import inspect
import itertools
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from pegasos._threads import count_threads
from pegasos.base import clock
from pegasos.base.available import available
from pegasos.base.callbacks import Unseen, refitting
from pegasos.base.checkpoint import Context, Given
from pegasos.base.conventions import ClassifierMixin
from pegasos.base.display import listening
from pegasos.base.estimator import Data, at_once, copy_results
from pegasos.base.memory import refuse_beyond
from pegasos.base.options import Choice, Option, check_options, names
from pegasos.base.outcome import Budget
from pegasos.base.parameters import Explained, Interrupts, parameter, parameters
from pegasos.base.progress import Progress
from pegasos.base.rows import check_rows
from pegasos.base.scores import score_rows
from pegasos.base.threads import TimeShare, run_all
from pegasos.base.validation import require_targets
from pegasos.base.warn import warn
from pegasos.base.wording import shortened
from pegasos.certificate import Certificate, History, join_parts
from pegasos.io.dataset import Dataset
from pegasos.linear.out_of_core.machine import name_features, refuse_larger, take_all
from pegasos.linear.path import Fitted, PathParameters, follow, make_grid, warn_of_shortfall
from pegasos.linear.svc import LinearSVC
from pegasos.problems.linear import Examples
from pegasos.solvers import Solver

#: Columns of decisions that are computed in one pass over the examples held out, about.
SCORED = 32


class Fold(NamedTuple):
    """One fold: what was found for each C that there was time for, its score on the examples held out, and its norm."""

    points: list[Fitted]
    scores: NDArray[np.float64]
    norms: NDArray[np.float64]


class _Scored(LinearSVC):
    """A fitted classifier for a scorer, whose decisions on the examples held out are known already."""

    _held_out: Any
    _decisions: NDArray[np.float64]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        return self._decisions if X is self._held_out else super().decision_function(X)


@parameters
class CVParameters(Interrupts, PathParameters):
    """Parameters of `LinearSVCCV`."""

    options: ClassVar[Mapping[str, Option]]

    Cs: int | ArrayLike = 20
    cv: Any = 5
    scoring: str | Callable[..., float] | None = None
    rule: str = parameter("best", Choice(values=names("best", "one_standard_error"), help="which C to choose"))


class LinearSVCCV(CVParameters, ClassifierMixin, Explained):
    """Linear support vector classifier that chooses C by cross-validation, along a path in each fold.

    Each fold follows the path of `pegasos.path` over all values of C, and scores them all on the held-out examples.
    With more than two classes, each class has a path against the rest, and all share one C. The model is then fitted to
    all examples at the chosen C. Every fit has a certificate.

    Parameters
    ----------
    Cs : int or array of float, default=20
        The values of C, or how many: evenly spaced on a logarithmic scale from 1e-4 to 10. If `C_` is the first or the
        last value, widen the range.
    cv : int, splitter or iterable of (train, test), default=5
        The folds, as in scikit-learn; a number means that many stratified folds.
    scoring : str or callable, default=None
        The score to choose by, as in scikit-learn; None is the accuracy. Sample weights count in it.
    rule : {"best", "one_standard_error"}, default="best"
        Take the C with the best mean score, or the smallest C whose mean score is within one standard error of it.
    n_jobs : int, default=None
        Folds to work on at a time, each in its own thread; -1 means as many as there are processors, None means one.
        The scores do not depend on it. Each active fold holds a copy of its part of X. The last fit uses the threads
        that `LinearSVC` would choose, or one with ``n_jobs=1``.
    on_interrupt : {"raise", "keep"}, default="raise"
        As in `LinearSVC`, for the last fit. In a fold, Ctrl-C leaves nothing.
    loss, solver, tol, max_iter, max_time, fit_intercept, intercept, intercept_scaling, scale, class_weight, \
random_state, verbose
        As in `LinearSVC`. `max_iter` applies to each fit, and `max_time` to the whole call: the folds and the last fit
        get equal shares of it, and fits that got no time have the score NaN. `verbose` reports on the folds, then on
        the last fit.

    Attributes
    ----------
    C_ : float
        The chosen C.
    Cs_ : ndarray of shape (n_Cs,)
        All values of C, in increasing order.
    scores_ : ndarray of shape (n_folds, n_Cs)
        The score of each fold and C.
    mean_score_, standard_error_ : ndarray of shape (n_Cs,)
        The mean over the folds, and its standard error.
    norms_ : ndarray of shape (n_folds, n_Cs)
        The norm of the weights of each fold and C; with more than two classes, of all their weights together.
    certificates_ : tuple of n_folds tuples of n_Cs Certificate
        The certificates behind the scores, with ``parts`` for more than two classes. If `max_time` was too short, only
        the first values of C have one.
    best_estimator_ : LinearSVC
        The last fit. `pegasos.io.save_model` writes only this, and `load_model` returns a `LinearSVC`.
    coef_, intercept_, classes_, certificate_, history_, n_iter_, scale_
        From the last fit, as in `LinearSVC`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from pegasos import LinearSVCCV
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, 20, flip_y=0.2, random_state=0)
    >>> clf = LinearSVCCV(Cs=5, rule="one_standard_error", random_state=0).fit(X, y)
    >>> clf.scores_.shape, clf.certificate_.converged
    ((5, 5), True)
    """

    docs_page = "path.md"

    C_: float
    Cs_: NDArray[np.float64]
    scores_: NDArray[np.float64]
    mean_score_: NDArray[np.float64]
    standard_error_: NDArray[np.float64]
    certificates_: tuple[tuple[Certificate, ...], ...]
    best_estimator_: LinearSVC
    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    classes_: NDArray[Any]
    certificate_: Certificate
    history_: History | list[History]
    n_iter_: int
    scale_: NDArray[np.float64] | None
    n_features_in_: int

    @at_once
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose C on the examples X with labels y, and fit to all. `groups` are for splitters that use them.

        X may be a data set on disk, which is read into memory whole; its `memory_limit` must allow for that.
        """
        context = Context(clock.now(), given=Given.of(X, y, sample_weight=sample_weight))
        dataset = X if isinstance(X, Dataset) else None
        if dataset is not None:
            refuse_larger(dataset, type(self).__name__)
            X, y, sample_weight = take_all(dataset, y, sample_weight)
        one_thread, data, solver, context = self._search(X, y, sample_weight, groups, context)
        best = self._make_svc(C=self.C_, n_jobs=1 if self.n_jobs == 1 else None, on_interrupt=self.on_interrupt)
        copy_results(one_thread, best)  # those of validation
        if dataset is not None:
            name_features(best, dataset)
        given = Given.of(X, y, sample_weight=sample_weight)
        with refitting(self, best, len(self.scores_), given):
            best._fit(data, solver, None, context._replace(given=given, label="last fit"))
        for name, value in vars(best).items():
            if name.endswith("_"):
                setattr(self, name, value)
        self.best_estimator_ = best
        return self

    def _search(
        self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, groups: ArrayLike | None, context: Context
    ) -> tuple[LinearSVC, Data, Solver, Context]:
        """Choose C and store it with the scores; what the last fit needs besides."""
        solver, grid = self.check_parameters(), make_grid(self.Cs)
        require_targets(self, y)
        one_thread = self._make_svc(n_jobs=1)
        data = one_thread._accept(X, y, sample_weight)
        copy_results(one_thread, self)  # the names of columns, for messages
        check_rows(data.X)  # before rows are taken for folds
        context = context._replace(seed=one_thread._seed())
        splits, n_jobs = self._splits(data, groups), count_threads(self.n_jobs) or 1
        share = _share(self.max_time, len(splits), n_jobs)
        work = functools.partial(_fit_fold, one_thread, solver, self._scorer(), data, grid, context, share)
        with listening(self, context, Unseen(len(splits) + 1)) as progress:  # the last fit is one more
            listeners = [progress.part(f"fold {k + 1}", k, len(splits)) for k in range(len(splits))]
            works = [(functools.partial(work, k == 0, *split), listeners[k]) for k, split in enumerate(splits)]
            try:
                folds = run_all(works, n_jobs)
            except KeyboardInterrupt as error:
                raise KeyboardInterrupt("interrupted while C was chosen: nothing is kept") from error
        points = [point for fold in folds for point in fold.points]
        warn_of_shortfall(type(self).__name__, one_thread, points, data.X)
        left_out = len(folds) * len(grid) - len(points)
        if left_out:
            text = (
                f"{type(self).__name__}: max_time={self.max_time!r} left no time for {left_out} of "
                f"{len(folds) * len(grid)} fits; raise max_time or tol, or take fewer Cs or folds"
            )
            warn(text, ConvergenceWarning)
        scores = np.array([fold.scores for fold in folds])
        spread = scores.std(axis=0, ddof=1) if len(folds) > 1 else np.zeros(len(grid))
        mean, deviation = scores.mean(axis=0), spread / np.sqrt(len(folds))
        if left_out and np.isnan(mean).all():  # no C has been in all folds: what is known of each must do
            known = ~np.isnan(scores)
            mean = np.where(known, scores, 0).sum(axis=0) / np.where(known.any(axis=0), known.sum(axis=0), np.nan)
        self.C_, self.Cs_ = float(grid[self._choose(mean, deviation)]), grid
        self.scores_, self.mean_score_, self.standard_error_ = scores, mean, deviation
        self.norms_ = np.array([fold.norms for fold in folds])
        self.certificates_ = tuple(tuple(point.certificate for point in fold.points) for fold in folds)
        return one_thread, data, solver, context

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Decisions as in `LinearSVC`."""
        return self._held().decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each example."""
        return self._held().predict(X)

    @available(lambda self: self._held().predict_proba)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities as in `LinearSVC`, with ``loss="log_loss"`` only."""
        return self._held().predict_proba(X)

    @available(lambda self: self._held().predict_log_proba)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of `predict_proba`."""
        return self._held().predict_log_proba(X)

    def score(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """What `scoring` says of the predictions; the accuracy where it is None. X may be a data set on disk."""
        if self.scoring is None:
            return self._held().score(X, y, sample_weight)
        X, y, sample_weight = self._held()._examples_to_score(X, y, sample_weight)
        return _call_scorer(self._scorer(), self._held(), X, y, sample_weight)

    def check_parameters(self) -> Solver:
        """Raise a ValueError if a parameter has an invalid value; return the solver. `fit` does this first."""
        make_grid(self.Cs)
        if not (self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)):
            raise ValueError(f"scoring={self.scoring!r}: must be one score to choose by, a name or a callable, or None")
        check_options(self, self.options)
        return self._make_svc().check_parameters()

    def _held(self) -> LinearSVC:
        """The last fit; before there is one, an estimator that says so."""
        return getattr(self, "best_estimator_", None) or self._make_svc()

    def _make_svc(self, **parameters: Any) -> LinearSVC:
        """A LinearSVC with the parameters they share."""
        return LinearSVC(**{one.name: getattr(self, one.name) for one in fields(PathParameters)} | parameters)

    def _scorer(self) -> Callable[..., float]:
        from sklearn.metrics import check_scoring  # slow to import

        try:
            return check_scoring(LinearSVC(), scoring="accuracy" if self.scoring is None else self.scoring)
        except ValueError as error:
            raise ValueError(
                f"scoring={self.scoring!r}: must be the name of a score (sklearn.metrics.get_scorer_names()), such as "
                "'accuracy' or 'f1_macro', a callable, or None"
            ) from error

    def _splits(self, data: Data, groups: ArrayLike | None) -> list[tuple[Any, Any]]:
        from sklearn.model_selection import check_cv  # slow to import

        try:
            found = check_cv(self.cv, data.y, classifier=True).split(data.X, data.y, groups)
            splits = [(train, test) for train, test in found]
            for rows in itertools.chain(*splits):
                data.y[rows]
            if not splits:
                raise ValueError("there are no folds")
        except (TypeError, ValueError, IndexError) as error:
            raise ValueError(
                f"cv={shortened(repr(self.cv))}: {str(error).rstrip('.')}; pass a number of folds, at least 2 and at "
                "most the number of rows, a splitter of sklearn.model_selection, or a list of pairs (rows to train on, "
                "rows to test on)"
            ) from error
        for number, (train, _) in enumerate(splits):
            if len(np.unique(data.encoded[train])) < 2:
                rare = data.classes[np.bincount(data.encoded) == 1].tolist()
                if rare:
                    raise ValueError(
                        f"y has one example of class {rare[0]!r}, which cannot be both trained and tested on; give "
                        "more of that class, or use LinearSVC with a C that you choose"
                    )
                raise ValueError(
                    f"cv={self.cv!r}: fold {number} trains on one class only; use a stratified splitter or fewer folds"
                )
        return splits

    def _choose(self, mean: NDArray[np.float64], error: NDArray[np.float64]) -> int:
        """The number of the C chosen. Of equals it is the smallest."""
        if np.isnan(mean).all():
            raise ValueError(f"scoring={self.scoring!r} gave NaN for every C; use another, or other folds")
        best = int(np.nanargmax(mean))
        if self.rule == "best":
            return best
        return int(np.flatnonzero(mean >= mean[best] - error[best])[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def choose_only(search: LinearSVCCV, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, started: float) -> None:
    """Choose C as `fit` does, and store it with the scores, without the last fit. `max_time` began at `started`."""
    search._search(X, y, sample_weight, None, Context(started))


def _share(max_time: float | None, n_folds: int, n_jobs: int) -> TimeShare:
    """The time of the folds, of which the last fit is as good as one more."""
    turns = -(-n_folds // n_jobs)
    return TimeShare(None if max_time is None else float(max_time) * turns / (turns + 1), n_folds, n_jobs)


def _fit_fold(
    svc: LinearSVC,
    solver: Solver,
    scorer: Callable[..., float],
    data: Data,
    grid: NDArray[np.float64],
    context: Context,
    share: TimeShare,
    always: bool,
    train: Any,
    test: Any,
    progress: Progress,
) -> Fold:
    """The path on the examples to train on, and its scores on those held out; `always` that of the first C at least."""
    limit = share.limit(context.elapsed)
    count = len(data.classes) if len(data.classes) > 2 else 1
    turns = TimeShare(limit, len(grid) * count, 1)

    def next_budget() -> Budget | None:
        elapsed = context.elapsed
        first = turns.waiting > (len(grid) - 1) * count
        if limit is not None and elapsed >= limit and not (always and first):
            return None
        own = turns.limit(elapsed)
        return replace(svc._budget(), max_time=None if own is None else own - elapsed)

    found, scores, norms, held_out = [], [], [], data.take(test)
    if always or limit is None or context.elapsed < limit:
        examples = _against_the_rest(svc._hand_over(data.take(train)), data.encoded[train], count)
        listeners = [progress]
        if count > 1:
            listeners = [progress.part(repr(label), k, count) for k, label in enumerate(data.classes.tolist())]
        told = zip(examples, listeners, strict=True)
        paths = [follow(svc, solver, own, grid, context, listener, next_budget) for own, listener in told]
        points = zip(*paths, strict=False)  # each C of all classes before the next C, as far as there is time
        while some := list(itertools.islice(points, -(-SCORED // count))):
            scores += _score(svc, scorer, data, held_out, some)
            norms += [float(np.linalg.norm([np.linalg.norm(part.coef) for part in parts])) for parts in some]
            found += [_joined(parts) for parts in some]
        for listener in listeners if count > 1 else ():
            listener.close()
    progress.close()
    left_out = np.full(len(grid) - len(found), np.nan)
    return Fold(found, np.append(scores, left_out), np.append(norms, left_out))


def _against_the_rest(examples: Examples, classes: NDArray[np.intp], count: int) -> list[Examples]:
    """The problem of two classes, or of each of more against the rest; they share the rows."""
    if count == 1:
        return [examples]
    rows = len(classes)
    refuse_beyond(16 * rows * count, f"variables of {count} classes", "use GridSearchCV around LinearSVC")
    return [replace(examples, y=np.where(classes == k, 1.0, -1.0)) for k in range(count)]


def _joined(parts: tuple[Fitted, ...]) -> Fitted:
    """What all classes have in common at a C, without the weights, which would take too much room."""
    certificates = [part.certificate for part in parts]
    whole = certificates[0] if len(parts) == 1 else join_parts(certificates, sum(one.seconds for one in certificates))
    return parts[0]._replace(coef=np.empty(0), certificate=whole)


def _score(
    svc: LinearSVC, scorer: Callable[..., float], data: Data, held_out: Data, points: list[tuple[Fitted, ...]]
) -> list[float]:
    """The scores of some values of C, in one pass over the examples held out."""
    weights = [(np.array([part.coef for part in at]), np.array([part.intercept for part in at])) for at in points]
    coef, intercept = (np.concatenate(arrays) for arrays in zip(*weights, strict=True))
    decisions = np.split(score_rows(held_out.X, coef, intercept, n_jobs=1), len(points), axis=1)
    scores = []
    for parts, (coef, intercept), own in zip(points, weights, decisions, strict=True):
        fitted = _Scored(**svc.get_params(deep=False))
        fitted.C = parts[0].C
        fitted.classes_, fitted.n_features_in_ = data.classes, data.X.shape[1]
        fitted.coef_, fitted.intercept_ = coef, intercept
        fitted.certificate_ = _joined(parts).certificate
        fitted._held_out, fitted._decisions = held_out.X, own if len(parts) > 1 else own.ravel()
        scores.append(_call_scorer(scorer, fitted, held_out.X, held_out.y, held_out.sample_weight))
    return scores


def _call_scorer(scorer: Callable[..., float], fitted: Any, X: Any, y: Any, sample_weight: ArrayLike | None) -> float:
    """The score, weighted if there are weights and the scorer takes them."""
    if sample_weight is not None and "sample_weight" in inspect.signature(scorer).parameters:
        return float(scorer(fitted, X, y, sample_weight=sample_weight))
    return float(scorer(fitted, X, y))
