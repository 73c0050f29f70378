"""Classification with features of example and label together (S0 section 5, equation 20).

The problem is to minimise ``1/2 ||w||^2 + C sum_i s_i max_k [cost_ik + <w, phi_ik> - <w, phi_iy>]``, where phi_ik is
the vector of example i with label k, y its own label, and cost_ik what it costs to take it for k; ``cost_iy = 0``.

Its dual is to maximise ``C sum_i s_i <cost_i, p_i> - 1/2 ||w||^2`` over p_i in the simplex, with
``w = C sum_i s_i sum_k p_ik (phi_iy - phi_ik)``. So every p is a lower bound, and with ``g_ik = cost_ik + <w, phi_ik>``
the gap is ``C sum_i s_i (max_k g_ik - <p_i, g_i>)``: one pass over the features.

Block-coordinate Frank-Wolfe in pairs (Lacoste-Julien, Jaggi, Schmidt and Pletscher, 2013; Osokin and others, 2016):
visit an example, find the label ``up`` of the largest g_ik and the label ``down`` of the smallest among those with
p_ik > 0, and move mass t from down to up. The dual then rises by ``c t (g_up - g_down) - 1/2 c^2 t^2 ||phi_up -
phi_down||^2``, c = C s_i, and the best t <= p_down has a formula.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from pegasos._core import native
from pegasos.base import clock
from pegasos.base.bounds import UNIT, VANISHING
from pegasos.base.callbacks import Problems
from pegasos.base.checkpoint import Context, Given
from pegasos.base.conventions import ClassifierMixin
from pegasos.base.display import listening
from pegasos.base.estimator import at_once, of_one_model, shortfall
from pegasos.base.options import Option, check_options
from pegasos.base.outcome import Budget, Point, Solution, UsedSolvers, check_finite, keeping
from pegasos.base.parameters import Budgets, Explained, Interrupts, Penalty, Seeded, parameters
from pegasos.base.progress import Named, Progress, Unsaved, make_run
from pegasos.base.validation import MASKED, check_cost, check_weights, refuse_masked, require_targets, sum_weights
from pegasos.base.warn import warn
from pegasos.certificate import REASONS, Certificate, History
from pegasos.io.csr import check_sparse

Floats = NDArray[np.float64]
FeatureMap = Callable[[Any, Any], ArrayLike]

#: Bytes that the features of all pairs of example and label may take.
LARGEST = 10**9

#: Passes between checks over the examples that are not at rest, at most.
PASSES = 5


@parameters(kw_only=False)
class FeatureMapParameters(Seeded, Interrupts, Budgets, Penalty):
    """Parameters; the first may be given by its place."""

    options: ClassVar[Mapping[str, Option]]

    feature_map: FeatureMap
    _: KW_ONLY
    labels: Sequence[Any] | NDArray[Any] | None = None
    cost: ArrayLike | Callable[[Any, Any], float] | None = None


class FeatureMapSVC(FeatureMapParameters, ClassifierMixin, Explained):
    """Support vector classifier with features of example and label together, for small problems, with a certificate.

    It minimises ``1/2 ||w||^2 + C sum_i s_i max_k [cost(y_i, k) + <w, phi(x_i, k)> - <w, phi(x_i, y_i)>]``, where phi
    is any function of an example and a label. It predicts the k with the largest ``<w, phi(x, k)>`` (S0 equation 20).

    The features of all pairs are computed once and kept: 8 bytes for each example, label and feature, 1 GB at most.
    If each label has separate weights, ``LinearSVC(multi_class="joint")`` solves the same problem much faster.

    Parameters
    ----------
    feature_map : callable
        ``feature_map(x, label)`` returns a vector of numbers, of the same length for every x and label.
    labels : sequence, default=None
        The labels to choose from, numbers or strings. None means the labels in y, sorted.
    cost : array of shape (n_labels, n_labels) or callable, default=None
        The cost of taking a label (row, in the order of ``classes_``) for another (column), or a function
        ``cost(y_true, y_pred)`` that returns it. Costs are not negative, and zero for the right label. None means a
        cost of 1 for every error.
    C, alpha, tol, max_iter, max_time, on_interrupt, random_state, verbose
        As in `LinearSVC`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of `labels`.
    certificate_, history_, n_iter_
        As in `LinearSVC`.

    Examples
    --------
    Words of two languages, by the letters they end with; the label is part of the features' names.

    >>> from pegasos import FeatureMapSVC
    >>> words, languages = ["casa", "vino", "haus", "wein"], ["it", "it", "de", "de"]
    >>> names = [(letter, language) for letter in "aosn" for language in ("it", "de")]
    >>> def ending(word, language):
    ...     return [float((word[-1], language) == name) for name in names]
    >>> clf = FeatureMapSVC(ending, random_state=0).fit(words, languages)
    >>> clf.certificate_.converged
    True
    >>> clf.predict(["mano", "maus"])
    array(['it', 'de'], dtype='<U2')
    """

    docs_page = "feature-map.md"

    coef_: Floats
    classes_: NDArray[Any]
    certificate_: Certificate
    history_: History
    n_iter_: int

    @at_once
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to the examples X, a sequence or array of whatever `feature_map` takes, with labels y."""
        context = Context(clock.now(), given=Given.of(X, y, sample_weight=sample_weight))
        check_options(self, self.options)
        if not callable(self.feature_map):
            raise ValueError(
                f"feature_map={self.feature_map!r}: must be a function of an example and a label that returns a vector"
            )
        items = _items(X)
        if len(items) == 0:
            raise ValueError("X has no examples; look at how it was made")
        classes, own = self._encode(y, len(items))
        cost = self._check_cost(classes)
        s = np.ones(len(own)) if sample_weight is None else check_weights(sample_weight, own)
        total = sum_weights(s)
        C = self.weight_of_loss(total)
        random = check_random_state(self.random_state)
        problem = _Problem(_all_features(self.feature_map, items, classes), own, s, C, cost)
        budget = Budget(self.tol, self._max_epochs, self.max_time, keep=self.on_interrupt == "keep")
        with (
            listening(self, context, Problems(classes_=classes)) as progress,
            np.errstate(over="ignore", invalid="ignore"),
        ):
            solution = _solve(problem, budget, random, context, progress)
        self._store(check_finite(solution, problem), classes)
        warn(shortfall(self.certificate_, self._advice), ConvergenceWarning)
        return self

    @of_one_model
    def decision_function(self, X: Any) -> Floats:
        """Scores ``<w, phi(x, k)>`` of shape (n_samples, n_labels), also with two labels."""
        check_is_fitted(self)
        items, labels = _items(X), self.classes_.tolist()
        scores = np.empty((len(items), len(labels)))
        for i, x in enumerate(items):
            for k, label in enumerate(labels):
                scores[i, k] = _features(self.feature_map, x, i, label, len(self.coef_)) @ self.coef_
        return scores

    @of_one_model
    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each example."""
        numbers = self.decision_function(X).argmax(axis=1)
        return np.take(self.classes_, numbers)

    def _encode(self, y: Any, count: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """The labels to choose from, and the number of each example's."""
        require_targets(self, y)
        refuse_masked("y", y, MASKED["y"])
        y = column_or_1d(y, warn=True)
        if len(y) != count:
            raise ValueError(f"X has {count} examples, y {len(y)} labels; give one label for each example")
        check_classification_targets(y)
        if self.labels is None:
            classes, own = np.unique(y, return_inverse=True)
            if len(classes) < 2:
                raise ValueError(
                    f"y has one label only, {classes.tolist()[0]!r}; pass labels=..., all there are to choose from"
                )
            return classes, own
        classes = _check_labels(self.labels)
        numbers = {label: number for number, label in enumerate(classes.tolist())}
        for i, label in enumerate(y.tolist()):
            if label not in numbers:
                raise ValueError(f"y[{i}]={label!r} is none of labels; add it to labels, or drop the example")
        return classes, np.array([numbers[label] for label in y.tolist()])

    def _check_cost(self, classes: NDArray[Any]) -> Floats:
        if not callable(self.cost):
            return check_cost(self.cost, len(classes))
        labels = classes.tolist()
        return check_cost([[self.cost(true, taken) for taken in labels] for true in labels], len(labels))

    def _store(self, solution: Solution[Point], classes: NDArray[Any]) -> None:
        self.certificate_ = solution.certificate(self.tol)
        self.history_ = solution.history
        self.n_iter_ = self.certificate_.n_iter
        self.coef_, self.classes_ = solution.point.w, classes

    def _advice(self, found: Certificate) -> str:
        what = "tol" if found.reason == "precision" else f"{found.reason} or tol"
        return (
            f"FeatureMapSVC did not reach tol={float(self.tol):g}: {REASONS[found.reason]}. "
            f"The objective {found.primal:.6g} may be up to {found.gap:.3g} (relative) above the optimum, which is at "
            f"least {found.dual:.6g}. "
            f"Raise {what}, or try a smaller C."
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # examples are what feature_map takes them for
        tags.no_validation = True
        return tags


class _Problem:
    """What is minimised.

    It is no kind of problem of `Solver.solve`, which chooses among the methods that a kind has: this one has one, in
    NumPy, as no vectors of pairs of examples and labels are known to the core.
    """

    def __init__(self, features: Floats, own: NDArray[np.intp], s: Floats, C: float, cost: Floats) -> None:
        self.features = features  # of shape (examples, labels, features)
        self.own = own  # the number of each example's label
        self.s, self.C, self.cost = s, C, cost
        squares = [float(np.einsum("kd,kd->k", vectors, vectors).max()) for vectors in features]
        self.norms = np.sqrt(np.array(squares) + VANISHING * features.shape[2])  # the largest of each example

    @property
    def largest_norm(self) -> float:
        return float(self.norms.max())

    @property
    def total_weight(self) -> float:
        return float(self.s.sum())

    def weights(self, p: Floats) -> Floats:
        """w at the dual point p."""
        acts = -p
        acts[np.arange(len(p)), self.own] += 1
        acts *= self.C * self.s[:, None]
        return acts.ravel() @ self.features.reshape(acts.size, -1)

    def measure(self, p: Floats, w: Floats) -> tuple[native.Measure, Floats]:
        """What the bounds at p and its w rest on, and what each example adds to the gap.

        They allow for rounding: a sum of m products is off by at most m units of the sum of their sizes, in any order.
        So is each score, of which a loss has two, and w, whose terms are also off as the masses of an example sum to
        one up to rounding only. The factor 1.01 is for products of units, and for the rounding of what is added here.
        """
        n, K, d = self.features.shape
        rows = np.arange(n)
        g = (self.features.reshape(p.size, -1) @ w).reshape(p.shape)  # the scores as yet
        own, costs, c = g[rows, self.own], self.cost[self.own], self.C * self.s
        g += costs
        highest = g.max(axis=1)
        losses, linear = float(c @ (highest - own)), float(c @ (costs * p).sum(axis=1))
        norm = math.sqrt(float(w @ w) + VANISHING * d) if w.any() else 0.0
        scores = float(c @ (2 * (d + 2) * norm * self.norms + costs.max(axis=1)))
        rest = p.copy()
        rest[rows, self.own] = 0
        moved = rest.any(axis=1)
        error = 1.01 * UNIT * ((moved.sum() + 3) * K + 16) * 2 * float(c[moved] @ self.norms[moved])
        above, below = 1.01 * UNIT * (scores + n * losses), 1.01 * UNIT * (n + 2 * K) * linear
        return native.Measure(losses, above, linear, below, w, error), c * (highest - (p * g).sum(axis=1))


def _solve(
    problem: _Problem, budget: Budget, random: np.random.RandomState, context: Context, progress: Progress
) -> Solution[Point]:
    """Block-coordinate Frank-Wolfe in pairs, in a random order of the examples.

    Each check tells what the examples add to the gap. Those that add less than a tenth of the average rest until the
    next one: together they have no more than a tenth of the gap.
    """
    own, limit = problem.own, math.inf if budget.max_time is None else budget.max_time
    p = np.zeros((len(own), len(problem.cost)))
    p[np.arange(len(own)), own] = 1
    w = np.zeros(problem.features.shape[2])
    order = np.flatnonzero(problem.s)
    n = len(order)
    fit = native.Ascent(len(w), n, tol=budget.tol, usual=1.0)
    listener = Unsaved(Named(progress, lambda w: {"coef_": w}))
    with keeping(budget.keep, [fit]):
        while not fit.reason:
            passes = [random.permutation(order) for _ in range(min(PASSES, n // len(order)))]
            moves, out_of_time = 0, False
            for i in np.concatenate(passes)[: budget.max_iter * n - round(fit.visits)].tolist():
                if context.elapsed >= limit:
                    out_of_time = True
                    break
                moves += _ascend(problem, i, p[i], w)
                fit.visits += 1
            p /= p.sum(axis=1, keepdims=True)
            w = problem.weights(p)  # afresh: the one kept up to date has errors of rounding
            measure, gaps = problem.measure(p, w)
            order = np.flatnonzero(gaps > 0.1 * gaps.mean())
            fit.set_point(measure)
            fit.begin_check()
            fit.add(measure)
            exhausted = moves == 0 or len(order) == 0 or not math.isfinite(measure.losses)
            run = make_run(replace(budget, elapsed=context.elapsed, keep=False), listener)
            fit.end_check(run, out_of_time, fit.visits >= budget.max_iter * n and not exhausted)
            if exhausted and not fit.reason:
                fit.reason = "precision"
    used = UsedSolvers(("block-coordinate Frank-Wolfe in pairs",))
    return Solution.of_parts(fit, context.elapsed, used, "max_iter", p.ravel())


def _ascend(problem: _Problem, i: int, p: Floats, w: Floats) -> bool:
    """Move the best mass from one label of example i to another, in p and w; whether there was any to move."""
    vectors = problem.features[i]
    g = problem.cost[problem.own[i]] + vectors @ w
    up, down = g.argmax(), np.where(p > 0, g, np.inf).argmin()
    highest, lowest, mass = float(g[up]), float(g[down]), float(p[down])
    rise = highest - lowest
    if not rise > 1e-15 * (abs(highest) + abs(lowest)):
        return False
    c = problem.C * float(problem.s[i])
    across = vectors[down] - vectors[up]
    curvature = c * float(across @ across)
    if rise >= curvature * mass:
        p[down], t = 0, mass
    else:
        t = rise / curvature
        p[down] -= t
    p[up] += t
    w += c * t * across
    return True


def _items(X: Any) -> Sequence[Any]:
    """The examples one by one."""
    if issparse(X):
        check_sparse(X)
        rows = X.tocsr()
        return [rows[[i]] for i in range(rows.shape[0])]
    if hasattr(X, "iloc"):  # a data frame, which by itself is a sequence of its columns' names
        return [X.iloc[i] for i in range(len(X))]
    if not (hasattr(X, "__len__") and hasattr(X, "__getitem__")) or isinstance(X, Mapping | str | bytes):
        raise ValueError(f"X is a {type(X).__name__}; it must be a sequence or array of examples, such as list(X)")
    return list(X)


def _check_labels(labels: Any) -> NDArray[Any]:
    listed = list(labels) if hasattr(labels, "__iter__") and not isinstance(labels, str) else labels
    if not isinstance(listed, list):
        raise ValueError(f"labels={labels!r}: must be a list of numbers or of strings")
    kinds = {isinstance(label, str) for label in listed}
    classes = np.asarray(listed)
    if classes.ndim != 1 or len(kinds) > 1 or classes.dtype.kind not in "biufUO" or classes.tolist() != listed:
        raise ValueError(f"labels={labels!r}: must be a list of numbers or of strings")
    if len(classes) < 2 or len(set(listed)) < len(classes):
        raise ValueError(f"labels={labels!r}: must be two or more, and different from each other")
    return classes


def _all_features(feature_map: FeatureMap, items: Sequence[Any], classes: NDArray[Any]) -> Floats:
    """The vectors of all pairs of example and label."""
    labels = classes.tolist()
    shape = (len(items), len(labels), len(_features(feature_map, items[0], 0, labels[0])))
    size = 8 * math.prod(shape)
    if size > LARGEST:
        raise ValueError(
            f"the features of {shape[0]} examples with {shape[1]} labels, {shape[2]} each, would take {size / 1e9:.3g} "
            f"GB, more than {LARGEST / 1e9:g} GB; take fewer of one of them, or "
            "LinearSVC(multi_class='joint'), where each label has weights of its own"
        )
    features = np.empty(shape)
    for i, x in enumerate(items):
        for k, label in enumerate(labels):
            features[i, k] = _features(feature_map, x, i, label, shape[2])
    return features


def _features(feature_map: FeatureMap, x: Any, i: int, label: Any, length: int | None = None) -> Floats:
    """The vector of example i with the label, checked."""
    where = f"feature_map(X[{i}], {label!r})"
    try:
        given = feature_map(x, label)
    except Exception as error:
        error.add_note(f"in {where}")
        raise
    if issparse(given):
        raise ValueError(f"{where} is a sparse matrix; it must be a vector: return its .toarray().ravel()")
    try:
        vector = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{where} is {type(given).__name__} and not a vector of numbers; return numbers only"
        ) from None
    if vector.ndim != 1 or len(vector) == 0:
        raise ValueError(
            f"{where} has shape {vector.shape}; it must be a vector, of one dimension: return its .ravel()"
        )
    if length is not None and len(vector) != length:
        raise ValueError(
            f"{where} has {len(vector)} features, where others have {length}; all vectors must have the same length: "
            "fill with zeros"
        )
    if not np.isfinite(vector).all():
        wrong = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise ValueError(f"{where}[{wrong}] is {vector[wrong]}; features must be finite: impute such values")
    if not np.abs(vector).max() < 1e150:
        raise ValueError(f"{where} has values so large that sums of their products overflow; scale the features")
    return vector
