"""Support vector classification with a kernel."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted

from pegasos.base.available import available
from pegasos.base.estimator import Classifier, Data, of_one_model
from pegasos.base.onnx import Graph, Output
from pegasos.base.options import Choice, Flag, names
from pegasos.base.parameters import WithoutProbability, parameter, parameters
from pegasos.base.validation import class_weights
from pegasos.base.warn import warn
from pegasos.kernel.estimator import KernelMachine
from pegasos.kernel.fit import Subproblem
from pegasos.kernel.onnx import write_classifier
from pegasos.solvers import Solver

Floats = NDArray[np.float64]

#: What to do for probabilities.
CALIBRATE = (
    "For probabilities fit sklearn.calibration.CalibratedClassifierCV(SVC(...), ensemble=False), or around a fitted "
    "model CalibratedClassifierCV(sklearn.frozen.FrozenEstimator(model)), to other examples"
)


@parameters
class SVC(WithoutProbability, Classifier, KernelMachine):
    """Support vector classifier with a kernel; a certificate proves how close each fit is to the optimum.

    It minimises ``1/2 ||w||^2 + C sum_i s_i max(0, 1 - y_i (<w, phi(x_i)> + b))``, where ``<phi(x), phi(x')>`` is the
    kernel, and b is not in the norm. With more than two classes, there is one such problem for each pair of classes, or
    for each class against the rest. It takes the parameters of `sklearn.svm.SVC`, but `tol` is the relative duality
    gap.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss; larger means less regularised. Infinity counts as 1e10, a practically hard margin.
    alpha : float, default=None
        The papers' lambda. It replaces C: ``C = 1 / (alpha n)``, where n is the total weight of all examples.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        ``exp(-gamma ||x - x'||^2)``, ``<x, x'>``, ``(gamma <x, x'> + coef0)^degree``, ``tanh(gamma <x, x'> + coef0)``.
        "precomputed" takes the kernel matrix as X. A function of two matrices returns the kernel of each row of the
        first with each row of the second; it is called on blocks of rows, or on parts of a list of strings.
    degree : int, default=3
        Exponent of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        The gamma in these formulas. "scale" is ``1 / (n_features * X.var())``, where sample weights count in the
        variance; "auto" is ``1 / n_features``.
    coef0 : float, default=0.0
        The coef0 of the polynomial and the sigmoid kernel.
    solver : str or object of `pegasos.solvers`, default="auto"
        The method: a name, which means the solver with its default options, or an object. ``"auto"`` chooses.
    tol : float, default=1e-3
        Stop when the relative duality gap is this small. 0 runs the whole budget.
    max_iter : int, default=10_000
        Budget in epochs, for each problem; an epoch is as many steps as there are examples. -1 means no limit.
    max_time : float, default=None
        Budget in seconds, for the whole fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does to a fit, as in `LinearSVC`. With several problems, "keep" needs a check of each.
    checkpoint : str, path-like or Checkpoint, default=None
        A folder for checkpoints, as in `LinearSVC`.
    fit_intercept : bool, default=True
        Whether to have an intercept. It is free: not in the norm.
    class_weight : dict or "balanced", default=None
        Weights of the classes; they multiply the sample weights. "balanced" counts examples, not their weights.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether `decision_function` has a column for each class or, where they are trained in pairs, for each pair.
    multi_class : {"auto", "ovo", "ovr"}, default="auto"
        What to do with more than two classes. "auto" and "ovo" train pairs of classes, as in LIBSVM, and "ovr" trains
        each class against the rest.
    break_ties : bool, default=False
        Whether the larger decisions decide between classes with equally many votes. Otherwise the first of these
        classes wins.
    scale : bool, default=False
        True divides each column by its size before the fit. The size is the root mean square of the nonzero entries.
        The kernel, `gamma` and the certificate then belong to the scaled columns, as rounded to double precision.
    cache_size : float, default=2000
        Megabytes of the kernel matrix to keep, for all problems solved at the same time together.
    early_stopping : bool, default=False
        Whether to stop also when the accuracy on held-out examples has not improved for `n_iter_no_change` epochs. The
        solvers "sbp", "simba", "pegasos" and "perceptron" support it.
    validation_fraction : float, default=0.1
        The share of the examples to hold out, the same for each class.
    n_iter_no_change : int, default=5
        The number of epochs without a better accuracy after which to stop.
    warm_start : bool, default=False
        Whether `fit` continues from the dual variables of the previous fit, which belong to the same examples in the
        same order. With another number of examples it starts anew. The solvers "auto", "smo", "lasvm" and "sdca"
        support it.
    n_jobs : int, default=None
        Threads; -1 means as many as there are processors. None means one thread, or with ``solver="auto"`` as many as
        suit the data. With several problems, `n_jobs` are solved at a time, each in one thread. Large predictions use
        `n_jobs` threads, by default all processors.
    random_state : int, RandomState or None, default=None
        Seed of the solver's choices. The same seed and `n_jobs` give the same result, bit for bit.
    verbose : int, default=0
        1 shows a bar on a terminal or in a notebook, and a few lines elsewhere; 2 prints a line for each check.
    shrinking : bool, default=True
        Accepted as in scikit-learn, without effect: the solver decides.
    probability : {False, True, "deprecated"}, default=False
        Accepted as in scikit-learn. With True each fit warns that there are no probabilities, and says how to get them.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Row numbers of the support vectors, the first class first.
    support_vectors_ : ndarray or sparse array of shape (n_SV, n_features)
        The support vectors; empty with ``kernel="precomputed"``.
    n_support_ : ndarray of shape (n_classes,)
        The number of support vectors of each class.
    dual_coef_ : ndarray or sparse matrix of shape (n_classes - 1, n_SV) or (n_classes, n_SV)
        The coefficients of the support vectors in the decisions, as in scikit-learn: a column has the coefficients of a
        support vector against the other classes, in order. With more than two classes and ``multi_class="ovr"``, a row
        belongs to a class. Sparse if X was, like `coef_`.
    intercept_ : ndarray of shape (1,), (n_classes (n_classes - 1) / 2,) or (n_classes,)
        Intercepts; 0 with ``fit_intercept=False``.
    coef_ : ndarray or sparse matrix of shape (1, n_features), or with a row for each pair or class
        Weights of the features; only with ``kernel="linear"``.
    gamma_ : float
        The number that `gamma` stood for; only for kernels by name.
    classes_ : ndarray of shape (n_classes,)
        The labels. With two classes, positive decisions mean the second. For a pair of several classes, they mean the
        first.
    certificate_ : Certificate
        Bounds on the optimum, and how the fit ended. With more than two classes, ``parts`` has one for each pair or
        class.
    history_ : dict of ndarray, or list of them
        ``seconds``, ``epoch``, ``primal``, ``dual`` and ``gap`` at each check; a list with several pairs or classes.
    n_iter_ : ndarray of shape (1,), or with an entry for each pair or class
        Epochs begun.
    fit_status_ : int
        0 if the fit reached `tol` or stopped early as requested, 1 if it fell short.
    class_weight_ : ndarray of shape (n_classes,)
        The weight of each class, in the order of ``classes_``.
    n_kernel_evaluations_ : int
        The number of kernel values that the fit computed.
    n_updates_ : int
        The number of changes of a coefficient. Each needs a row of the kernel matrix, which may be in the cache.
    shape_fit_ : tuple
        The shape of X.
    scale_ : ndarray of shape (n_features,) or None
        The sizes that the columns are divided by, with ``scale=True``: the certificate's examples are the quotients
        as rounded to double precision.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from pegasos import SVC
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> clf = SVC(C=10, random_state=0).fit(X, y)
    >>> clf.certificate_.gap <= 1e-3, round(clf.score(X, y), 2)
    (True, 0.98)
    """

    docs_page = "kernel.md"

    loss = "hinge"

    decision_function_shape: str = parameter(
        "ovr", Choice(values=names("ovr", "ovo"), help="decisions for each class, or for each pair")
    )
    multi_class: str = parameter(
        "auto",
        Choice(values=names("auto", "ovo", "ovr"), help="pairs of classes (auto, ovo), or each against the rest"),
    )
    break_ties: bool = parameter(False, Flag(help="if classes have equally many votes, let the larger decision win"))

    @property
    def _multi_class(self) -> str:
        """The way without "auto"."""
        return "ovo" if self.multi_class == "auto" else self.multi_class

    def _refuse_combinations(self, solver: Solver) -> None:
        super()._refuse_combinations(solver)
        if self.decision_function_shape == "ovo" and self.multi_class == "ovr":
            raise ValueError(
                "decision_function_shape='ovo' is the decisions of pairs of classes, which multi_class='ovr' does not "
                "train; use multi_class='ovo', or decision_function_shape='ovr'"
            )

    def _accept(self, X: Any, y: Any, sample_weight: ArrayLike | None, reset: bool = True) -> Data:
        if self.probability is True:
            # The category is that of scikit-learn's own warning.
            warn(
                f"probability=True has no effect: {type(self).__name__} has no probabilities, and scikit-learn has "
                f"its parameter deprecated. {CALIBRATE}",
                FutureWarning,
            )
        return super()._accept(X, y, sample_weight, reset)

    def _count_iterations(self) -> None:
        parts = self.certificate_.parts or (self.certificate_,)
        self.n_iter_ = np.array([part.n_iter for part in parts], dtype=np.int32)

    @of_one_model
    def decision_function(self, X: Any) -> Floats:
        """Decisions of shape (n_samples,) for two classes, positive for ``classes_[1]``.

        With more classes, there is a column for each class. If pairs were trained, it holds the votes of the pairs, and
        their decisions break ties. With ``decision_function_shape="ovo"`` there is a column for each pair, positive for
        its first class.
        """
        scores = self._scores(X)
        if len(self.classes_) == 2:
            return scores.ravel()
        if not self._in_pairs() or self.decision_function_shape == "ovo":
            return scores
        return np.asarray(_ovr_decision_function(scores < 0, -scores, len(self.classes_)), dtype=np.float64)

    @of_one_model
    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each example."""
        if "classes_" not in vars(self):
            check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError(
                "break_ties must be False when decision_function_shape is 'ovo': it goes by a decision for each class; "
                "use decision_function_shape='ovr', or break_ties=False"
            )
        if len(self.classes_) == 2:
            numbers = (self.decision_function(X) >= 0).astype(np.intp)
        elif self._in_pairs() and not self.break_ties:
            numbers = self._votes(self._scores(X)).argmax(axis=1)
        else:
            numbers = self.decision_function(X).argmax(axis=1)
        return self.classes_.take(numbers)

    def _refuse_probabilities(self) -> NoReturn:
        raise AttributeError(
            f"the hinge loss has no probabilities, so {type(self).__name__} has no predict_proba. {CALIBRATE}"
        )

    @available(_refuse_probabilities)
    def predict_proba(self, X: Any) -> NoReturn:
        """There are no probabilities; the error tells what to do."""
        self._refuse_probabilities()

    predict_log_proba = predict_proba

    def _write_onnx(self, graph: Graph, x: str) -> dict[str, Output]:
        return write_classifier(self, graph, x)

    def _in_pairs(self) -> bool:
        """Whether there are several problems, one for each pair of classes."""
        count = len(self.classes_)
        return count > 2 and len(self._dual_coef_) == count - 1

    def _problem_names(self) -> list[str]:
        if not self._in_pairs():
            return super()._problem_names()
        return [f"{first!r} against {second!r}" for first, second in combinations(self.classes_.tolist(), 2)]

    def _votes(self, scores: Floats) -> NDArray[np.intp]:
        """How many pairs each class wins; one that decides nothing is won by its second."""
        n, count = len(scores), len(self.classes_)
        winners = np.where(scores > 0, *np.triu_indices(count, 1)) + count * np.arange(n)[:, None]
        return np.bincount(winners.ravel(), minlength=n * count).reshape(n, count)

    def _parts(self, data: Data) -> list[Subproblem]:
        """The second class against the first; of more than two the first of each pair, or each against the rest."""
        labels = data.classes.tolist()
        if len(labels) == 2:
            return [Subproblem("", None, np.where(data.encoded == 1, 1.0, -1.0))]
        if self.multi_class == "ovr":
            return [
                Subproblem(f"{label!r}", None, np.where(data.encoded == k, 1.0, -1.0)) for k, label in enumerate(labels)
            ]
        parts = []
        for first, second in combinations(range(len(labels)), 2):
            rows = np.flatnonzero((data.encoded == first) | (data.encoded == second))
            y = np.where(data.encoded[rows] == first, 1.0, -1.0)
            parts.append(Subproblem(f"{labels[first]!r} against {labels[second]!r}", rows, y))
        return parts

    def _store_machines(
        self, data: Data, parts: Sequence[Subproblem], betas: Sequence[Floats], intercepts: Floats
    ) -> None:
        self.classes_ = data.classes
        self.class_weight_ = class_weights(self.class_weight, data.classes, np.bincount(data.encoded))
        n, count = len(data.encoded), len(data.classes)
        if parts[0].rows is None:
            weights = np.array(betas)
        else:
            weights = np.zeros((count - 1, n))
            for part, beta, (first, second) in zip(parts, betas, combinations(range(count), 2), strict=True):
                of_first = part.y > 0
                assert part.rows is not None
                weights[second - 1, part.rows[of_first]] = beta[of_first]
                weights[first, part.rows[~of_first]] = beta[~of_first]
        used = np.flatnonzero((weights != 0).any(axis=0))
        used = used[np.argsort(data.encoded[used], kind="stable")]
        self.support_ = used.astype(np.int32)
        self.n_support_ = np.bincount(data.encoded[used], minlength=count).astype(np.int32)
        self._dual_coef_ = weights[:, used]
        self.intercept_ = intercepts

    def _groups(self) -> list[slice]:
        if not self._in_pairs():
            return [slice(None)]
        ends = np.cumsum(self.n_support_)
        return [slice(int(end - size), int(end)) for size, end in zip(self.n_support_, ends, strict=True)]

    def _combine(self, sums: Floats) -> Floats:
        if not self._in_pairs():
            return sums[:, 0]
        first, second = np.triu_indices(len(self.classes_), 1)
        return sums[:, first, second - 1] + sums[:, second, first]

    def _problem_weights(self) -> Floats:
        if not self._in_pairs():
            return self._dual_coef_
        groups, pairs = self._groups(), list(combinations(range(len(self.classes_)), 2))
        weights = np.zeros((len(pairs), len(self.support_)))
        for row, (first, second) in zip(weights, pairs, strict=True):
            row[groups[first]] = self._dual_coef_[second - 1, groups[first]]
            row[groups[second]] = self._dual_coef_[first, groups[second]]
        return weights
