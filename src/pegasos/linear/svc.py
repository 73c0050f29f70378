"""Linear support vector classifiers: two classes, one class against the rest, or all together."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from pegasos._threads import usable_threads
from pegasos.base.available import available
from pegasos.base.callbacks import AgainstTheRest, Problems
from pegasos.base.estimator import Classifier, Data, at_once, of_one_model
from pegasos.base.memory import refuse_beyond
from pegasos.base.onnx import Graph, Output
from pegasos.base.options import Choice, names
from pegasos.base.outcome import Budget, Point, Solution
from pegasos.base.parameters import SquaredNorm, parameter, parameters
from pegasos.base.progress import Progress
from pegasos.base.scores import score_rows
from pegasos.base.validation import check_cost
from pegasos.linear.estimator import Task, accuracy
from pegasos.linear.exchange import classifier_to_sklearn
from pegasos.linear.one_vs_rest import OneVsRest, against_the_rest
from pegasos.linear.onnx import write_classifier
from pegasos.linear.parameters import ClassificationLoss
from pegasos.linear.stream import StreamMachine, known_classes, number_known_labels
from pegasos.problems.linear import Examples
from pegasos.solvers import Solver
from pegasos.solvers.auto import Auto

#: Entries of the data from which on classes are worth threads that nobody asked for.
ENTRIES_FOR_THREADS = 100_000


@parameters
class LinearSVC(SquaredNorm, Classifier, ClassificationLoss, StreamMachine):
    """Linear support vector classifier whose every fit carries a certificate of how close to the optimum it is.

    It minimises ``1/2 ||w||^2 + C sum_i s_i loss(y_i (<w, x_i> + b))``, where a penalised
    intercept b is part of w, and a free one is not. The hinge loss is ``max(0, 1 - z)``.

    More than two classes are one such problem each, the class against the rest, or one problem all together.

    It takes the parameters of `sklearn.svm.LinearSVC`. Three things differ: the default loss is the hinge, where
    scikit-learn's is the squared hinge; `tol` is the relative duality gap; and with more than two classes
    `class_weight` weighs the examples of a class in all problems.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss; larger means less regularised.
    alpha : float, default=None
        The papers' lambda, in place of C: ``C = 1 / (alpha n)``, n the total weight of the examples.
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
        The loss. "log_loss" is logistic regression, and has `predict_proba`.
    multi_class : {"ovr", "joint", "crammer_singer"}, default="ovr"
        "ovr" trains one class against the rest, for each of more than two. "joint" trains all together: the machine
        of Crammer and Singer with the hinge loss, multinomial logistic regression with "log_loss"; its intercept is
        penalised, and the solvers "auto", "sdca", "pegasos" and "sgd-s" support it. "crammer_singer" is scikit-learn's
        name for "joint" with the hinge loss.
    cost : array of shape (n_classes, n_classes), default=None
        What it costs to take a class (row, in the order of ``classes_``) for another (column), with
        ``multi_class="joint"`` and the hinge loss. Not negative, and zero on the diagonal; None is 1 off it.
    solver : str or object of `pegasos.solvers`, default="auto"
        How to solve it: by name, with the solver's default options, or as an object. ``"auto"`` chooses.
    tol : float, default=1e-3
        Stop when the relative duality gap is this small. 0 runs the whole budget.
    max_iter : int, default=1000
        Budget in epochs, or iterations of interior-point and newton; for each class against the rest. -1 is no limit.
    max_time : float, default=None
        Budget in seconds, for the whole fit.
    fit_intercept : bool, default=True
        Whether to have an intercept.
    intercept : {"penalized", "free"}, default="penalized"
        What kind of intercept. A penalised one, as in LIBLINEAR, is the weight of a constant feature of value
        `intercept_scaling`. A free one is not in the norm, as in LIBSVM; the solvers "auto", "interior-point",
        "newton", "sdca" and "pegasos" support it.
    intercept_scaling : float, default=1.0
        The value of the constant feature; larger penalises the intercept less. A free intercept has none.
    scale : {"auto"}, default=None
        "auto" divides each column of X by its size, the root mean square of its entries that are not zero, before the
        fit; `coef_` is for X as it was given, and the certificate is that of the problem in the scaled columns.
        Nothing is centred, and a column of zeros stays. It takes a copy of the values of X, in double precision.
    class_weight : dict or "balanced", default=None
        Weights of the classes, which multiply the sample weights: an example has that of its own class, against the
        rest too. With more than two classes scikit-learn's `LinearSVC` is another problem: it gives each class its
        weight in its own problem only, and the rest 1. "balanced" counts examples, not their weights.
    early_stopping : bool, default=False
        Whether to stop also when the accuracy on examples held out has not improved for `n_iter_no_change` epochs, and
        take the weights where it was best. The certificate is that of the problem on the other examples, with the
        reason "early_stopping". Supported by the solvers "pegasos", "sgd-r", "sgd-s" and "sgd-m".
    validation_fraction : float, default=0.1
        The share of the examples held out, of each class alike.
    n_iter_no_change : int, default=5
        Epochs without a better accuracy after which to stop.
    warm_start : bool, default=False
        Whether `fit` continues from the previous one: `SDCA` and `InteriorPoint` from its dual point, `OCAS` from that
        and its weights, the others from its weights and step count. There may be more examples than before, if the
        first are those of the previous fit; with fewer, `SDCA` and `InteriorPoint` start anew.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does to a fit. "raise" leaves the estimator as it was. "keep" gives it the best point of the last
        check, without another pass, with its certificate and the reason "interrupt"; classes without a check have zero
        weights then. Where there was no check at all it raises too, and so it does inside searches and
        cross-validation, such as `GridSearchCV`.
    checkpoint : str, path-like or Checkpoint, default=None
        A folder for checkpoints, written every 30 seconds. A fit that is killed goes on from there, if the same fit is
        started again, and ends with the same bits; see `pegasos.Checkpoint`.
    n_jobs : int, default=None
        Threads for the fit; -1 is as many as there are processors. None is one, or with ``solver="auto"`` what suits
        the data. A solver that cannot use more works with one, and evaluates the objective with all. One class against
        the rest, or a group of them that shares passes, takes one thread, and `n_jobs` are worked on at a time; the
        result does not depend on it. Large predictions use as many threads, and by default all processors.
    random_state : int, RandomState or None, default=None
        Seed of the order of visits. The same seed and `n_jobs` give the same result, bit for bit.
    verbose : int, default=0
        1 shows a bar on a terminal or in a notebook, and a few lines elsewhere, 2 a line for each check.
    penalty : {"l2"}, default="l2"
        As in scikit-learn. "l1" is an error that says what to do instead.
    dual : {"auto", True, False}, default="auto"
        Accepted as in scikit-learn, and without effect: the solver decides.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; a row for each of more than two classes, or with ``multi_class="joint"``.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts; 0 without one.
    classes_ : ndarray of shape (n_classes,)
        The labels. Of two, positive decisions mean the second.
    certificate_ : Certificate
        Bounds on the optimum, and how the fit ended; one class against the rest each has one in its ``parts``.
    history_ : dict of ndarray, or list of them
        ``seconds``, ``epoch``, ``primal``, ``dual`` and ``gap`` at each check; one class against the rest each has one,
        in the order of ``classes_``.
    n_iter_ : int
        Epochs begun, or iterations of interior-point and newton; of one class against the rest the most.
    fit_status_ : int
        0 where the fit reached `tol` or was stopped early as asked for, 1 where it fell short.
    scale_ : ndarray of shape (n_features,) or None
        What the columns were divided by, with ``scale="auto"``.
    progressive_ : Progressive
        After `partial_fit` the mean ``loss`` and ``error`` of predictions made before each example was learned from,
        their ``weight`` and ``n_rows``. There is no `certificate_` then.
    lower_bound_ : float
        After `partial_fit` of Pegasos: no w has a smaller ``alpha/2 ||w||^2`` and mean loss over the examples met.
    t_ : int
        After `partial_fit` how many examples were met.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(1000, 20, random_state=0)
    >>> clf = LinearSVC(C=0.01, tol=0.01, random_state=0).fit(X, y)
    >>> clf.certificate_.gap <= 0.01
    True
    >>> clf.predict(X[:3])
    array([0, 1, 1])
    """

    docs_page = "tutorial.md"

    regressor = "LinearSVR, on the command line --task regression"

    multi_class: str = parameter(
        "ovr",
        Choice(
            values=names("ovr", "joint", "crammer_singer"),
            help="each of more than two classes against the rest, or all together; crammer_singer is joint with hinge",
        ),
    )
    cost: ArrayLike | None = None

    @property
    def _joint(self) -> bool:
        return self.multi_class != "ovr"

    def _refuse_combinations(self, solver: Solver) -> None:
        if self.multi_class == "crammer_singer" and self.loss != "hinge":
            ways: list[dict[str, str]] = [{"loss": "hinge"}, {"multi_class": "joint"}, {"multi_class": "ovr"}]
            ways += [way | {"solver": name} for way in ways for name in self.solvers]
            works = [way for way in ways if self._is_allowed(way)]
            advice = [" and ".join(f"{name}={value!r}" for name, value in way.items()) for way in works]
            least = [text for text, way in zip(advice, works, strict=True) if len(way) == len(works[0])]
            raise ValueError(
                f"loss={self.loss!r}: multi_class='crammer_singer' has the hinge loss; use {', or '.join(least[:3])}"
            )
        super()._refuse_combinations(solver)
        if self.cost is not None and not (self._joint and self.loss == "hinge"):
            raise ValueError(
                f"cost is for multi_class='joint' with loss='hinge', and these are {self.multi_class!r} and "
                f"{self.loss!r}; leave it out, or use class_weight"
            )

    def _is_allowed(self, changes: dict[str, str]) -> bool:
        """Whether nothing is refused with these parameters changed."""
        try:
            type(self)(**self.get_params(deep=False) | changes).check_parameters()
        except ValueError:
            return False
        return True

    @of_one_model
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores of shape (n_samples,) for two classes, positive for ``classes_[1]``; for more (n_samples, n_classes).

        Of two classes, each against the other, it is the signed distance to the hyperplane, times ``||w||``; of two
        trained jointly the difference of their scores.
        """
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return scores.ravel()
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @of_one_model
    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each example."""
        if type(self).decision_function is LinearSVC.decision_function:
            numbers = self._scores(X, numbers=True)
            return self.classes_.take(numbers)
        scores = self.decision_function(X)
        return self.classes_.take((scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1))

    @available(StreamMachine._check_partial_fit)
    @at_once
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from the next examples of a stream.

        Each is met once, in a random order within the call, and not kept. `classes` has all labels there will be, and
        is given with the first call. The problem is stated by `alpha`: it is there with that alone, or with
        ``solver="adagrad"``. After `fit` a stream starts anew, with the same classes if no others are given.
        """
        self._refuse_dataset(X)
        known = known_classes(self, classes)

        def targets(data: Data) -> list[NDArray[np.float64]]:
            return [against_the_rest(data, k) for k in (range(len(known)) if len(known) > 2 else [1])]

        self._learn_part(X, y, sample_weight, lambda y: (known, number_known_labels(y, known)), targets)
        self.classes_ = known
        return self

    def _check_probabilities(self) -> None:
        if self.loss != "log_loss":
            raise AttributeError(
                f"loss={self.loss!r} has no probabilities, so {type(self).__name__} has no predict_proba with it: use "
                "loss='log_loss', or wrap it in sklearn.calibration.CalibratedClassifierCV"
            )

    @available(_check_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, of shape (n_samples, n_classes).

        It is there with ``loss="log_loss"`` only. One class against the rest: each class has a probability against the
        rest, and they are divided by their sum.
        """
        return np.exp(self.predict_log_proba(X))

    @available(_check_probabilities)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of `predict_proba`."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return -np.logaddexp(0, np.column_stack([scores, -scores]))
        if not self._joint:
            scores = -np.logaddexp(0, -scores)
        return np.asarray(scores - logsumexp(scores, axis=1, keepdims=True), dtype=np.float64)

    def _as_sklearn(self) -> Any:
        return classifier_to_sklearn(self)

    def _write_onnx(self, graph: Graph, x: str) -> dict[str, Output]:
        return write_classifier(self, graph, x)

    def _targets(self, data: Data) -> NDArray[np.float64]:
        """1 for the second class and -1 for the first. Of more than two each has targets of its own."""
        return against_the_rest(data, 1)

    def _problems(self, classes: NDArray[Any]) -> Problems:
        return AgainstTheRest(classes) if len(classes) > 2 and not self._joint else Problems(classes_=classes)

    def _check_cost(self, n_classes: int) -> NDArray[np.float64]:
        """What it costs to take one class for another."""
        return check_cost(self.cost, n_classes)

    def _run(self, task: Task, progress: Progress) -> None:
        """Solve the one problem or several, and store what was found."""
        self.classes_ = task.data.classes
        if self._joint:
            self._run_joint(task, progress)
        elif len(task.data.classes) > 2:
            self._run_parts(task, progress)
        else:
            super()._run(task, progress)

    def _run_parts(self, task: Task, progress: Progress) -> None:
        """Each class against the rest: as many problems as classes, which share the rows in the core's hands."""
        count = len(task.data.classes)
        refuse_beyond(8 * count * task.examples.dimension, f"the weights of {count} classes", "hash to fewer features")
        n_jobs = self._threads()
        if n_jobs is None:
            worth = isinstance(task.solver, Auto) and task.examples.facts.entries >= ENTRIES_FOR_THREADS
            n_jobs = usable_threads() if worth else 1

        def solve_one(number: int, examples: Examples, progress: Progress, budget: Budget) -> Solution[Point]:
            return self._solve_one(task, examples, self._start(task, number, count), progress, budget, number)

        budget, continued = replace(self._budget(), n_jobs=n_jobs), self._start(task, 0, count) is not None
        found = OneVsRest(task, budget, solve_one, continued, bool(self.warm_start)).solve(progress)
        solutions = [self._without_dual_point(solution) for solution in found]
        weights = [task.examples.weights(solution.point.w) for solution in solutions]
        self._store_weights(np.array([coef for coef, _ in weights]), np.array([intercept for _, intercept in weights]))
        self._store(solutions, task.elapsed, task.examples)

    def _without_dual_point(self, solution: Solution[Point]) -> Solution[Point]:
        """Dual points of many classes take much memory, and are kept only for one who asks for it."""
        return solution if self.warm_start else solution.moved(q=None)

    def _run_joint(self, task: Task, progress: Progress) -> None:
        """All classes together, in one problem."""
        examples, count = task.examples, len(task.data.classes)
        numbers = count * (2 * examples.dimension + len(task.data.encoded))  # weights, and what examples weigh in them
        refuse_beyond(
            8 * numbers, f"a fit of {count} classes together", "use multi_class='ovr', or hash to fewer features"
        )
        problem = examples.joint_problem(task.C, task.data.encoded, self._check_cost(count))
        start = None
        if task.last is not None and len(task.last) == 1 and len(self._weight_rows()) == count:
            last = task.last[0]
            q = last.point if last.loss == self.loss else None
            start = examples.joint_start(self._weight_rows(), self.intercept_, last.t, q)

        def score(held_out: Data, w: NDArray[np.float64]) -> float:
            coef, intercepts = examples.joint_weights(w)
            numbers = score_rows(held_out.X, coef, intercepts, n_jobs=1, numbers=True)
            return accuracy(held_out, numbers == held_out.encoded)

        solution = task.solve(problem, self._budget(task.elapsed), start, progress, score)
        self._store_weights(*examples.joint_weights(solution.point.w))
        self._store([self._without_dual_point(solution)], task.elapsed, examples)
