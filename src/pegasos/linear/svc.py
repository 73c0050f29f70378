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
from pegasos.linear.estimator import Task, mean
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
    """Linear support vector classifier; a certificate proves how close each fit is to the optimum.

    It minimises ``1/2 ||w||^2 + C sum_i s_i loss(y_i (<w, x_i> + b))``. A penalised intercept b is part of w; a free
    one is not. The hinge loss is ``max(0, 1 - z)``.

    With more than two classes, there is one such problem for each class against the rest, or one problem for all
    classes together.

    It takes the parameters of `sklearn.svm.LinearSVC`. Three things differ. The default loss is the hinge;
    scikit-learn's is the squared hinge. `tol` is the relative duality gap. With more than two classes, `class_weight`
    weighs the examples of a class in all problems.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss; larger means less regularised.
    alpha : float, default=None
        The papers' lambda. It replaces C: ``C = 1 / (alpha n)``, where n is the total weight of the examples.
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
        The loss. "log_loss" is logistic regression, and has `predict_proba`.
    multi_class : {"auto", "ovr", "joint", "crammer_singer"}, default="auto"
        What to do with more than two classes. "auto" and "ovr" train each class against the rest. "joint" trains all
        classes together: with the hinge loss the support vector machine of Crammer and Singer, with "log_loss"
        multinomial logistic regression. Its intercept is penalised. The solvers "auto", "sdca", "pegasos" and "sgd-s"
        support it, and "newton" with "log_loss". "crammer_singer" is scikit-learn's name for "joint" with the hinge
        loss.
    cost : array of shape (n_classes, n_classes), default=None
        The cost of taking a class (row, in the order of ``classes_``) for another (column), with
        ``multi_class="joint"`` and the hinge loss. Costs are not negative, and zero on the diagonal. None means a cost
        of 1 for every error.
    solver : str or object of `pegasos.solvers`, default="auto"
        The method: a name, which means the solver with its default options, or an object. ``"auto"`` chooses.
    tol : float, default=1e-3
        Stop when the relative duality gap is this small. 0 runs the whole budget.
    max_iter : int, default=1000
        Budget in epochs (iterations for interior-point and newton), for each class against the rest. -1 means no
        limit.
    max_time : float, default=None
        Budget in seconds, for the whole fit.
    fit_intercept : bool, default=True
        Whether to have an intercept.
    intercept : {"penalized", "free"}, default="penalized"
        The kind of intercept. A penalised intercept, as in LIBLINEAR, is the weight of a constant feature of value
        `intercept_scaling`. A free intercept is not in the norm, as in LIBSVM. The solvers "auto", "interior-point",
        "newton", "sdca" and "pegasos" support it.
    intercept_scaling : float, default=1.0
        The value of the constant feature. A larger value penalises the intercept less. With a free intercept it must
        be 1.
    scale : bool, default=False
        True divides each column of X by its size before the fit. The size is the root mean square of the nonzero
        entries. `coef_` applies to X as given; the certificate belongs to the problem in the scaled columns. Nothing
        is centred, and a column of zeros stays as it is. Scaling copies the values of X, in double precision.
    class_weight : dict or "balanced", default=None
        Weights of the classes; they multiply the sample weights. An example has the weight of its own class in all
        problems. With more than two classes, scikit-learn's `LinearSVC` solves a different problem: a class has its
        weight only in its own problem, and the rest have weight 1. "balanced" counts examples, not their weights.
    early_stopping : bool, default=False
        Whether to stop also when the accuracy on held-out examples has not improved for `n_iter_no_change` epochs. The
        fit then returns the weights with the best accuracy. The certificate belongs to the problem on the other
        examples; its reason is "early_stopping". The solvers "pegasos", "sgd-r", "sgd-s" and "sgd-m" support it.
    validation_fraction : float, default=0.1
        The share of the examples to hold out, the same for each class.
    n_iter_no_change : int, default=5
        The number of epochs without a better accuracy after which to stop.
    warm_start : bool, default=False
        Whether `fit` continues from the previous fit: `SDCA`, `InteriorPoint` and `MPU` from its dual point, `OCAS`
        from its dual point and weights, the other solvers from its weights and step count. There may be more examples
        than before, if those of the previous fit come first. With fewer examples, `SDCA`, `InteriorPoint` and `MPU`
        start anew.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C leaves in the estimator; it raises KeyboardInterrupt in any case. "raise" leaves what was there
        before the fit. "keep" leaves the best point of the last check, without another pass, with its certificate and
        the reason "interrupt". Classes without a check then have zero weights. If there was no check at all, nothing
        changes.
    checkpoint : str, path-like or Checkpoint, default=None
        A folder for checkpoints, written every 30 seconds. If a fit is killed and the same fit is started again, it
        resumes from its checkpoint and ends with the same bits; see `pegasos.Checkpoint`.
    n_jobs : int, default=None
        Threads for the fit; -1 means as many as there are processors. None means one thread, or with
        ``solver="auto"`` as many as suit the data. A solver that cannot use several threads makes its steps with one,
        and evaluates the objective with all. With each class against the rest, `n_jobs` classes (or groups of classes
        that share passes) are trained at a time, each in one thread, and the result does not depend on `n_jobs`.
        Large predictions use `n_jobs` threads, by default all processors.
    random_state : int, RandomState or None, default=None
        Seed of the order of visits. The same seed and `n_jobs` give the same result, bit for bit.
    verbose : int, default=0
        1 shows a bar on a terminal or in a notebook, and a few lines elsewhere; 2 prints a line for each check.
    penalty : {"l2"}, default="l2"
        As in scikit-learn. "l1" is an error that says what to do instead.
    dual : {"auto", True, False}, default="auto"
        Accepted as in scikit-learn, without effect: the solver decides.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights. With more than two classes, or with ``multi_class="joint"``, each class has a row.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts; 0 with ``fit_intercept=False``.
    classes_ : ndarray of shape (n_classes,)
        The labels. With two classes, positive decisions mean the second.
    certificate_ : Certificate
        Bounds on the optimum, and how the fit ended. With each class against the rest, ``parts`` has one for each
        class.
    history_ : dict of ndarray, or list of them
        ``seconds``, ``epoch``, ``primal``, ``dual`` and ``gap`` at each check. With each class against the rest, one
        dict for each class, in the order of ``classes_``.
    n_iter_ : int
        Epochs begun, or iterations of interior-point and newton. With each class against the rest, the largest number.
    fit_status_ : int
        0 if the fit reached `tol` or stopped early as requested, 1 if it fell short.
    scale_ : ndarray of shape (n_features,) or None
        The sizes that the columns were divided by, with ``scale=True``.
    progressive_ : Progressive
        After `partial_fit`: the mean ``loss`` and ``error`` of predictions made before each example was learned from,
        with ``weight`` and ``n_rows``, the total weight and the number of these examples. There is no `certificate_`
        then.
    lower_bound_ : float
        After `partial_fit` with Pegasos: no w has a smaller ``alpha/2 ||w||^2`` plus mean loss over the examples so
        far.
    t_ : int
        After `partial_fit`: the number of examples so far.
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

    multi_class: str = parameter(
        "auto",
        Choice(
            values=names("auto", "ovr", "joint", "crammer_singer"),
            help="more than two classes: each against the rest (ovr), all together, or (svc) in pairs (ovo); auto is "
            "ovr, with svc ovo; crammer_singer is joint with hinge",
        ),
    )
    cost: ArrayLike | None = None

    @property
    def _joint(self) -> bool:
        return self._multi_class == "joint"

    @property
    def _multi_class(self) -> str:
        """The way without "auto" and scikit-learn's name."""
        return {"auto": "ovr", "crammer_singer": "joint"}.get(self.multi_class, self.multi_class)

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

        With two classes, the score is the signed distance to the hyperplane, times ``||w||``. With
        ``multi_class="joint"``, it is the difference of the scores of the two.
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

        Each example is visited once, in a random order within the call, and not kept. `classes` lists all labels that
        will occur; pass it with the first call. `alpha` states the problem: this method exists only if `alpha` is
        given, or with ``solver="adagrad"``. After `fit`, a stream starts anew, with the same classes if you pass no
        others.
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

        This method exists only with ``loss="log_loss"``. With each class against the rest, each class has a
        probability against the rest, and these are divided by their sum.
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
        self._store(solutions, task.context.elapsed, task.examples)

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
            return mean(held_out, numbers == held_out.encoded)

        solution = task.solve(problem, self._budget(task.context.elapsed), start, progress, score)
        self._store_weights(*examples.joint_weights(solution.point.w))
        self._store([self._without_dual_point(solution)], task.context.elapsed, examples)
