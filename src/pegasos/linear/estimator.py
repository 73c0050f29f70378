"""What linear machines share: hand the examples over to the core, call a solver, store what it found."""

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pegasos.base.callbacks import Problems
from pegasos.base.checkpoint import Context
from pegasos.base.display import listening
from pegasos.base.early_stopping import stop_early
from pegasos.base.estimator import Data, Machine, is_hidden, shortfall
from pegasos.base.exchange import Exchanged
from pegasos.base.memory import refuse_beyond
from pegasos.base.outcome import Budget, Point, Solution, Start, check_finite
from pegasos.base.parameters import PrimalOrDual, Scaled
from pegasos.base.progress import Named, Progress
from pegasos.base.rows import make_rows
from pegasos.base.scaling import (
    LOOKED_AT_SHORTLY,
    describe_offsets,
    describe_sizes,
    mostly_zeros,
    scale_columns,
    warn_of_offsets,
)
from pegasos.base.scores import score_rows
from pegasos.base.solver import EARLY_STOPPING, FREE, WARM_START, Elsewhere, Wish, refuse_unsupported, wish_for_loss
from pegasos.base.warn import warn, warn_of_fit
from pegasos.certificate import Certificate
from pegasos.config import make_csr
from pegasos.io.csr import canonical
from pegasos.io.dataset import Dataset
from pegasos.io.dataset_reader import read_rows
from pegasos.linear.out_of_core.machine import check_names, fit_dataset, name_features, take_own
from pegasos.linear.parameters import KindOfIntercept
from pegasos.problems.linear import Examples, JointProblem, LinearProblem
from pegasos.solvers import SOLVERS, Solver

Floats = NDArray[np.float64]

#: What a fit leaves for one that continues it, besides its weights: of each of its problems the dual point and steps.
LastFit = tuple[Start[Floats | None], ...]

#: Bytes that a fit takes for each feature at least: the weights, and those of the best point.
WEIGHT_BYTES = 16


class Task(NamedTuple):
    """What is to be solved, how, and from where."""

    data: Data
    held_out: Data | None  # to tell when to stop
    patience: int  # epochs without a better score on these
    examples: Examples
    C: float
    solver: Solver
    last: LastFit | None
    context: Context

    def solve(
        self,
        problem: LinearProblem | JointProblem,
        budget: Budget,
        start: Start[Point] | None,
        progress: Progress,
        score: Callable[[Data, Floats], float],
    ) -> Solution[Point]:
        """What the solver finds; with examples held out, epoch by epoch until the score of its weights on them ends to
        improve."""

        def solve(budget: Budget, start: Start[Point] | None, progress: Progress) -> Solution[Point]:
            return check_finite(self.solver.solve(problem, budget, self.context.seed, start, progress), problem)

        if self.held_out is None:
            return solve(budget, start, progress)
        return stop_early(solve, functools.partial(score, self.held_out), budget, start, progress, self.patience)


class LinearMachine(Exchanged, PrimalOrDual, KindOfIntercept, Scaled, Machine):
    """Base of the linear machines."""

    coef_: Any  # an array, or sparse after `sparsify`
    intercept_: NDArray[np.float64]
    scale_: NDArray[np.float64] | None
    _last: LastFit

    loss: str  # a parameter of all

    solvers = SOLVERS

    def _fit_dataset(self, dataset: Dataset, y: ArrayLike | None, sample_weight: ArrayLike | None) -> Self:
        if self.warm_start:
            check_names(self, dataset)
            self.__dict__.pop("feature_names_in_", None)  # of no use to validation, as the rows have none
        fit_dataset(self, dataset, y, sample_weight)
        name_features(self, dataset)
        return self

    def _examples_to_score(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        if isinstance(X, Dataset):
            return take_own(X, y, sample_weight)
        return super()._examples_to_score(X, y, sample_weight)

    def _refuse_combinations(self, solver: Solver) -> None:
        elsewhere = Elsewhere(LinearProblem, "use multi_class='ovr'") if self._joint else None
        self._refuse_unsupported(solver, JointProblem if self._joint else LinearProblem, SOLVERS, elsewhere)
        if self._free and self.intercept_scaling != 1:
            raise ValueError(
                f"intercept_scaling={self.intercept_scaling}: a free intercept is not penalised, so there is nothing "
                "to scale; leave it at 1, or use intercept='penalized'"
            )
        if getattr(self, "early_stopping", False) and solver.max_steps is not None:
            raise ValueError(
                "early_stopping=True goes epoch by epoch, and max_steps is no number of epochs; leave one of them out"
            )

    def _refuse_unsupported(
        self, solver: Solver, kind: type[Any], known: Mapping[str, type[Solver]], elsewhere: Elsewhere | None
    ) -> None:
        """Raise a ValueError where the solver cannot do what is asked for with problems of this kind."""
        wishes = [Wish(kind.label, lambda _: True)] if kind.label else []
        wishes += [wish_for_loss(self.loss)]
        wishes += [FREE] if self._free else []
        wishes += [EARLY_STOPPING] if getattr(self, "early_stopping", False) else []
        wishes += [WARM_START] if self.warm_start else []
        refuse_unsupported(solver, kind, known, wishes, elsewhere)

    def _last_fit(self) -> LastFit | None:
        return getattr(self, "_last", None)

    def _fit(self, data: Data, solver: Solver, last: LastFit | None, context: Context) -> Self:
        data, held_out = self._hold_out(data, context.seed)
        examples = self._hand_over(data)
        C = self.weight_of_loss(examples.total_weight)
        patience = int(getattr(self, "n_iter_no_change", 0))
        task = Task(data, held_out, patience, examples, C, solver, last, context)
        with listening(self, context, self._problems(data.classes)) as progress:
            self._run(task, Named(progress, functools.partial(self._name_weights, examples)))
        advice = functools.partial(self._advice, C=C, longest=examples.largest_norm, X=data.X)
        if text := shortfall(self.certificate_, advice, context.earlier):
            warn(text, ConvergenceWarning)
        elif text := self._describe_offsets(data.X):
            warn_of_fit(self.certificate_, f"{type(self).__name__}: {text}")
        return self

    def _describe_offsets(self, X: Any) -> str:
        """Words on columns far from zero, of which a penalised intercept learns less; "" where there are none. Sparse
        ones have mostly zeros.
        """
        told = bool(self.scale)  # by another warning
        if told or self._bias == 0 or self._free or mostly_zeros(X):
            return ""
        names = getattr(self, "feature_names_in_", None)
        how = ", or pass intercept='free': of such columns little is learned with a penalised intercept"
        return describe_offsets(X, names, how, looked_at=LOOKED_AT_SHORTLY)

    @property
    def _joint(self) -> bool:
        """Whether all classes are trained together."""
        return False

    @property
    def _free(self) -> bool:
        return bool(self.fit_intercept) and self.intercept == "free"

    @property
    def _bias(self) -> float:
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _targets(self, data: Data) -> NDArray[np.float64]:
        """The y of the problem."""
        raise NotImplementedError

    def _problems(self, classes: NDArray[Any]) -> Problems:
        """What callbacks are told of the problems of a fit."""
        return Problems()

    def _hand_over(self, data: Data) -> Examples:
        """The examples in the core's hands, scaled if so wanted."""
        X, s = data.X, self._weights(data)
        refuse_beyond(
            WEIGHT_BYTES * X.shape[1],
            f"X has {X.shape[1]:,} features, and a fit, which has a weight for each in memory,",
            "number them anew, without gaps, or hash them (sklearn.feature_extraction.FeatureHasher)",
        )
        n_jobs, scale = self._threads() or 1, None
        rows, facts = make_rows(X, self._bias, n_jobs)
        if self.scale:
            warn_of_offsets(X, getattr(self, "feature_names_in_", None))
            X, scale = scale_columns(canonical(X), s)
            rows, facts = make_rows(X, self._bias, n_jobs, rescaled=True)
        y = self._targets(data)
        return Examples(rows, facts, y, s, X.shape[1] + 1, self._bias, self._free, self.loss, scale)

    def _run(self, task: Task, progress: Progress) -> None:
        """Solve, and store what was found."""
        solution = self._solve_one(task, task.examples, self._start(task), progress, self._budget(task.context.elapsed))
        coef, intercept = task.examples.weights(solution.point.w)
        self._store_weights(coef[None, :], np.array([intercept]))
        self._store([solution], task.context.elapsed, task.examples)

    def _start(self, task: Task, number: int = 0, count: int = 1) -> Start[Point] | None:
        """From where one of so many problems continues the last fit, whose dual point another loss may not allow."""
        if task.last is None or not len(task.last) == len(self._weight_rows()) == count:
            return None
        last, coef = task.last[number], self._weight_rows()[number]
        q = last.point if last.loss == self.loss else None
        return task.examples.start(coef, float(self.intercept_[number]), last.t, q)

    def _solve_one(
        self,
        task: Task,
        examples: Examples,
        start: Start[Point] | None,
        progress: Progress,
        budget: Budget,
        number: int = 1,
    ) -> Solution[Point]:
        """One problem of the fit: of the class of that number against the rest, of two the second against the first."""
        problem = examples.problem(task.C)

        def score(held_out: Data, w: Floats) -> float:
            return self._score_held_out(held_out, *examples.weights(w), number)

        return self._as_stored(task.solve(problem, budget, start, progress, score), problem, examples)

    def _score_held_out(self, held_out: Data, coef: Floats, intercept: float, number: int) -> float:
        """How good the weights are for examples held out: of the problem of this class, the accuracy."""
        positive = score_rows(held_out.X, coef[None, :], intercept, n_jobs=1, numbers=True)
        return mean(held_out, positive == (held_out.encoded == number))

    def _as_stored(self, solution: Solution[Point], problem: LinearProblem, examples: Examples) -> Solution[Point]:
        """The solution with the weights that the model will have, and the bounds of these."""
        return solution

    def _name_weights(self, examples: Examples, w: Floats) -> dict[str, Any]:
        """The attributes that would be stored of the weights of a solution; of one problem of several its own."""
        if self._joint:
            return self._name_rows(*examples.joint_weights(w))
        coef, intercept = examples.weights(w)
        return self._name_rows(coef[None, :], np.array([intercept]))

    def _name_rows(self, coef: Floats, intercept: Floats) -> dict[str, Any]:
        model = object.__new__(type(self))
        model._store_weights(coef, intercept)
        return dict(vars(model))

    def _store_weights(self, coef: Floats, intercept: Floats) -> None:
        self.coef_, self.intercept_ = coef, intercept

    def sparsify(self) -> Self:
        """Keep `coef_` as a sparse matrix, for weights that are mostly zero; `densify` undoes it."""
        check_is_fitted(self)
        self.coef_ = make_csr(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep `coef_` as an array again, as `fit` leaves it."""
        check_is_fitted(self)
        if issparse(self.coef_):
            self._store_weights(self.coef_.toarray(), self.intercept_)
        return self

    def _weight_rows(self) -> Floats:
        """The weights as an array, a row for each problem."""
        rows = self.coef_.toarray() if issparse(self.coef_) else np.asarray(self.coef_, dtype=np.float64)
        return rows[None, :] if rows.ndim == 1 else rows

    def _store(self, solutions: Sequence[Solution[Point]], seconds: float, examples: Examples | None = None) -> None:
        """All but the weights; `examples` are None where they are not in memory."""
        for name in ("_streams", "_stream_errors", "progressive_", "lower_bound_", "t_"):
            self.__dict__.pop(name, None)  # of a stream before
        self._last = tuple(Start(solution.point.q, solution.t, self.loss) for solution in solutions)
        self.scale_ = None if examples is None else examples.scale
        scaled = bool(self.scale)
        self._store_outcome(solutions, [solution.certificate(self.tol, scaled) for solution in solutions], seconds)

    def _scores(self, X: Any, numbers: bool = False) -> Any:
        """The scores of the examples X, a column for each row of `coef_`; or which is the largest, see `score_rows`."""
        if "coef_" not in vars(self):
            check_is_fitted(self)
        if isinstance(X, Dataset):
            return self._score_stored(X, numbers)
        return score_rows(self._take(X), self._weight_rows(), self.intercept_, self.n_jobs, numbers)

    def _score_stored(self, dataset: Dataset, numbers: bool) -> Any:
        """The scores of a data set on disk, which is read block by block."""
        check_names(self, dataset)
        found, first, coef = np.empty(0), 0, self._weight_rows()
        with warnings.catch_warnings():
            if dataset.feature_names is not None:  # which the rows do not have
                warnings.filterwarnings("ignore", "X does not have valid feature names")
            for block in read_rows(dataset):
                rows = self._take(block)
                try:
                    scores = score_rows(rows, coef, self.intercept_, self.n_jobs, numbers)
                except ValueError as error:
                    dataset.verify()
                    raise ValueError(f"{dataset.path}, counted from row {first} on: {error}") from None
                if first == 0:
                    found = np.empty((len(dataset), *scores.shape[1:]), scores.dtype)
                found[first : first + len(scores)] = scores
                first += len(scores)
        return found

    def _advice(self, found: Certificate, C: float, longest: float, X: Any) -> str:
        """Why a fit to X fell short of `tol`, and what to do about it; `longest` is the norm of an example."""
        names = getattr(self, "feature_names_in_", None)
        uneven = describe_offsets(X, names) or ("" if self.scale else describe_sizes(X, names))
        return self._advise(found, C, longest, uneven, "with scale=True")

    def _advise(self, found: Certificate, C: float, longest: float, uneven: str, how: str, *more: str) -> str:
        """The advice where the columns are `uneven`, in a sentence; `how` to scale them where they are not."""
        sentences = [*self._bounds_reached(found), *more]
        if uneven:
            sentences.append(uneven)
        elif longest > 100 and not self.scale:
            sentences.append(
                f"The longest example has norm {longest:.3g}: scale the features, {how}; where columns are "
                "far from zero, centre them (sklearn.preprocessing.StandardScaler)."
            )
        if C * longest**2 > 100 and not is_hidden(found):
            sentences.append(f"C={C:.3g} is large for data of this scale, a hard problem: try a smaller C.")
        sentences.append(self._raise_what(found, bool(sentences[2:])))
        return " ".join(sentences)


def mean(data: Data, values: NDArray[Any]) -> float:
    """The mean of values of the examples, by their weights; of which are right, the accuracy."""
    weights = data.sample_weight
    return float(values.mean() if weights is None or not weights.any() else np.average(values, weights=weights))


def starts_anew(machine: LinearMachine) -> bool:
    """Whether a warm start would have no dual point to continue from, and the solver needs one."""
    solver = SOLVERS.get(machine.solver if isinstance(machine.solver, str) else machine.solver.name)
    if solver is None or not solver.supports[LinearProblem].needs_dual:
        return False
    last = machine._last_fit()
    return last is None or any(one.point is None for one in last)
