"""What an estimator does with a data set on disk: fit to it from memory where it fits, and by blocks where not."""

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from pegasos.base import clock
from pegasos.base.checkpoint import Context, Given, checkpointing
from pegasos.base.display import listening
from pegasos.base.estimator import shortfall
from pegasos.base.outcome import Point, Solution
from pegasos.base.parameters import loss_parameter
from pegasos.base.progress import Named
from pegasos.base.rows import check_rows
from pegasos.base.scaling import UnscaledColumns, describe_offsets, describe_sizes
from pegasos.base.solver import Elsewhere
from pegasos.base.validation import class_weights
from pegasos.base.warn import warn
from pegasos.base.wording import megabytes
from pegasos.io.dataset import Dataset
from pegasos.io.dataset_reader import read_some_rows
from pegasos.linear.out_of_core.blocks import Encoder
from pegasos.linear.out_of_core.fit import FitByBlocks, fits_in_memory, limit_of, needed_in_memory, needs_no_pass
from pegasos.problems.linear import BlocksProblem, JointProblem, LinearProblem
from pegasos.solvers import SOLVERS, Solver

#: When columns can be scaled.
BEFORE = "before the data set is written"


def take_own(dataset: Dataset, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """The data set with its labels and weights; a ValueError where something was passed beside it."""
    _refuse_beside(y, sample_weight)
    weights = dataset.read("weights") if "weights" in dataset.names else None
    return dataset, dataset.decode(dataset.read("labels")), weights


def take_all(dataset: Dataset, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """The data set in memory, as `fit` takes examples; a ValueError where something was passed beside it."""
    _refuse_beside(y, sample_weight)
    return dataset.load()


def is_larger(dataset: Dataset) -> bool:
    """Whether a data set takes more memory than its `memory_limit`, so that it is trained on by blocks."""
    return needed_in_memory(dataset, 1) > limit_of(dataset, None)


def refuse_larger(dataset: Dataset, who: str) -> None:
    """Raise a ValueError where a data set that is needed in memory whole takes more than its `memory_limit`."""
    needed, limit = needed_in_memory(dataset, 1), limit_of(dataset, None)
    if needed > limit:
        raise ValueError(
            f"{who} has the data in memory, for which {dataset.path} takes {megabytes(needed)}, more than "
            f"memory_limit={limit / 1e6:.0f}MB; raise it, or choose C on a part of the examples"
        )


def check_names(machine: Any, dataset: Dataset) -> None:
    """Raise a ValueError where the features of a data set are not those that the model was trained on."""
    known, given = getattr(machine, "feature_names_in_", None), dataset.feature_names
    if known is None or given is None or known.tolist() == given:
        return
    place = next((j for j, pair in enumerate(zip(known, given, strict=False)) if pair[0] != pair[1]), None)
    what = f"{len(given)} features" if place is None else f"{given[place]!r} as feature {place + 1}"
    wanted = f"{len(known)}" if place is None else f"{known[place]!r} there"
    raise ValueError(f"{dataset.path} has {what}, but the model was trained on {wanted}; write it in that order")


def name_features(machine: Any, dataset: Dataset) -> None:
    """Give a model that was trained on a data set the names of its features."""
    machine.__dict__.pop("feature_names_in_", None)
    if dataset.feature_names is not None:
        machine.feature_names_in_ = np.array(dataset.feature_names, dtype=object)


def _refuse_beside(y: Any, sample_weight: Any) -> None:
    if y is not None or sample_weight is not None:
        raise ValueError(
            f"{'y' if y is not None else 'sample_weight'} is given beside a data set, which has its own; leave it out, "
            "or write a data set with it"
        )


def fit_dataset(machine: Any, dataset: Dataset, y: Any, sample_weight: Any) -> Any:
    """Fit a linear machine to a data set, which brings its labels and weights along."""
    _refuse_beside(y, sample_weight)
    started = clock.now()
    solver = machine.check_parameters()
    classes = _classes(machine, dataset)
    n_parts = 1 if classes is None or len(classes) == 2 else len(classes)
    context = Context(started, machine._seed(), Given.of(dataset, None))
    with checkpointing(machine, context, dataset) as context:
        limit = limit_of(dataset, context.runs)
        if fits_in_memory(dataset, n_parts, limit) and not needs_no_pass(solver):
            X, labels, weights = take_all(dataset, None, None)
            _check_labels(dataset, labels, classes)
            data, last = machine._continue(X, labels, weights)
            return machine._fit(data, solver, last, context)
        _refuse(machine, solver, dataset, n_parts)
        problem = _make_problem(machine, dataset, classes, n_parts)
        columns = _look(dataset, problem)
        _fit_by_blocks(machine, dataset, solver, classes, problem, limit, context)
    advice = functools.partial(machine._advise, C=problem.C, longest=columns.longest, uneven=columns.uneven, how=BEFORE)
    if not needs_no_pass(solver):
        warn(shortfall(machine.certificate_, advice, context.earlier), ConvergenceWarning)
    return machine


class Columns(NamedTuple):
    """What some rows tell of the columns."""

    uneven: str  # a sentence, where they make a fit long
    longest: float  # the largest norm of a row


def _look(dataset: Dataset, problem: BlocksProblem) -> Columns:
    """Look at some rows, and warn of columns that make a fit long."""
    needed = f"raise memory_limit to {megabytes(needed_in_memory(dataset, problem.n_problems))}"
    X, names = read_some_rows(dataset), dataset.feature_names
    try:
        longest = float(np.sqrt(check_rows(X)[1].largest_squared_norm))
    except ValueError:  # damaged: the fit says where
        return Columns("", 0.0)
    how = f" {BEFORE}, or {needed}, so that they are in memory"
    remedy = f"scale them {BEFORE}, or {needed} and pass scale=True"
    uneven = describe_offsets(X, names, how) or describe_sizes(X, names, remedy, problem.C)
    if uneven:
        warn(f"By blocks such columns take very many epochs. {uneven}", UnscaledColumns)
    return Columns(uneven, longest)


def _make_problem(machine: Any, dataset: Dataset, classes: Any, n_parts: int) -> BlocksProblem:
    class_weight = _class_weight(machine, dataset, classes)
    total = dataset.total_weight
    if class_weight is not None and dataset.labels is not None:
        total = float(class_weight[np.searchsorted(classes, dataset.labels.values)] @ dataset.labels.weights)
    return BlocksProblem(
        C=machine.weight_of_loss(total),
        total_weight=total,
        loss=machine.loss,
        parameter=loss_parameter(machine)[1],
        dimension=dataset.shape[1] + 1,
        n_rows=len(dataset),
        bias=machine._bias,
        n_problems=n_parts,
    )


def _fit_by_blocks(
    machine: Any, dataset: Dataset, solver: Solver, classes: Any, problem: BlocksProblem, limit: int, context: Context
) -> None:
    n_parts = problem.n_problems
    with listening(machine, context, machine._problems(classes)) as whole:
        progress = Named(whole, lambda w: machine._name_rows(w[None, :-1], w[-1:] * machine._bias))
        labels = [] if n_parts == 1 else classes.tolist()
        listeners = [progress.part(repr(label), k, n_parts) for k, label in enumerate(labels)] or [progress]
        encode = _encoder(dataset, classes, _class_weight(machine, dataset, classes))
        budget, own = machine._budget(context.elapsed), context.runs.own() if context.runs else None
        fit = FitByBlocks(dataset, solver, problem, encode, listeners, budget, context.seed, limit, own)
        solutions = fit.solve()
    _store(machine, dataset, classes, solutions)


def _classes(machine: Any, dataset: Dataset) -> Any:
    """The labels in order; None for regression."""
    if not hasattr(machine, "class_weight"):
        if dataset.dtype_of("labels") == np.int32:
            raise ValueError(f"{dataset.path} has words for labels; a regression needs numbers")
        return None
    if dataset.labels is None:
        raise ValueError(f"{dataset.path} has more than 10,000 different labels; for targets use LinearSVR")
    classes = np.unique(dataset.labels.values)
    if classes.dtype.kind == "f" and (classes % 1 != 0).any():
        raise ValueError(f"{dataset.path} has labels that are no whole numbers; for targets use LinearSVR")
    if len(classes) < 2:
        raise ValueError(f"{dataset.path} has one class only, {classes.tolist()[0]!r}; a classifier needs two")
    return classes


def _check_labels(dataset: Dataset, labels: NDArray[Any], classes: Any) -> None:
    """Raise a ValueError where there are labels that the header does not have."""
    if classes is not None and not np.isin(labels, classes).all():
        raise dataset.damaged("labels", "has labels that the header does not")


def _refuse(machine: Any, solver: Solver, dataset: Dataset, n_parts: int) -> None:
    """Raise a ValueError where what is asked for cannot be done by blocks."""
    needed = megabytes(needed_in_memory(dataset, n_parts))
    advice = f"raise memory_limit to {needed}, so that {dataset.path} is trained on from memory"
    in_memory = JointProblem if machine._joint else LinearProblem
    machine._refuse_unsupported(solver, BlocksProblem, SOLVERS, Elsewhere(in_memory, advice))
    solver.supports[BlocksProblem].check_options(solver, BlocksProblem.label, advice)
    for name, unlike in (("scale", machine.scale), ("multi_class", machine._joint)):
        if unlike:
            raise ValueError(f"{name}={getattr(machine, name)!r} needs the data in memory; leave it out, or {advice}")


def _class_weight(machine: Any, dataset: Dataset, classes: Any) -> NDArray[np.float64] | None:
    """The weight of each class, in their order."""
    given, labels = getattr(machine, "class_weight", None), dataset.labels
    if given is None or labels is None:
        return None
    return class_weights(given, classes, labels.counts[np.argsort(labels.values)])


def _encoder(dataset: Dataset, classes: Any, class_weight: NDArray[np.float64] | None) -> Encoder:
    if classes is None:
        return lambda labels, weights: ([labels.astype(np.float64)], weights)

    def encode(
        stored: NDArray[Any], weights: NDArray[np.float64]
    ) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
        labels = dataset.decode(stored)
        numbers = np.searchsorted(classes, labels)
        if not np.array_equal(np.take(classes, numbers, mode="clip"), labels):
            raise dataset.damaged("labels", "has labels that the header does not")
        weights = weights if class_weight is None else weights * class_weight[numbers]
        wanted = [1] if len(classes) == 2 else range(len(classes))
        return [np.where(numbers == number, 1.0, -1.0) for number in wanted], weights

    return encode


def _store(machine: Any, dataset: Dataset, classes: Any, solutions: list[Solution[Point]]) -> None:
    if classes is not None:
        machine.classes_ = classes
    machine.n_features_in_ = dataset.shape[1]
    weights = np.array([solution.point.w for solution in solutions])
    machine._store_weights(np.ascontiguousarray(weights[:, :-1]), weights[:, -1] * machine._bias)
    machine._store(solutions, max(solution.seconds for solution in solutions))
