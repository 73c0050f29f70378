"""What an estimator does with a data set on disk: fit to it from memory where it fits, and by blocks where not."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from pegasos.base import clock
from pegasos.base.display import listening
from pegasos.base.estimator import Machine, shortfall
from pegasos.base.outcome import Point, Solution
from pegasos.base.parameters import loss_parameter
from pegasos.base.validation import class_weights
from pegasos.io.dataset import Dataset
from pegasos.linear.out_of_core.fit import Encoder, FitByBlocks, fits_in_memory, needs_no_pass
from pegasos.problems.linear import BlocksProblem
from pegasos.solvers import SOLVERS, Solver
from pegasos.solvers._blocks import Block

#: Visits of a block at most, before the next one is read, where a block is read for one problem alone.
MOST_VISITS = 2


def take_all(dataset: Dataset, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """The data set as `fit` takes examples; a ValueError where something was passed beside it."""
    _refuse_beside(y, sample_weight)
    return dataset.X, dataset.y, dataset.sample_weight


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
    if fits_in_memory(dataset, n_parts) and not needs_no_pass(solver):
        _check_labels(dataset, classes)
        return Machine.fit(machine, *take_all(dataset, None, None))
    _refuse(machine, solver, dataset)
    class_weight = _class_weight(machine, dataset, classes)
    total = dataset.total_weight
    if class_weight is not None and dataset.labels is not None:
        total = float(class_weight[np.searchsorted(classes, dataset.labels.values)] @ dataset.labels.weights)
    problem = BlocksProblem(
        C=machine.weight_of_loss(total),
        total_weight=total,
        loss=machine.loss,
        parameter=loss_parameter(machine)[1],
        dimension=dataset.shape[1] + 1,
        n_rows=len(dataset),
        bias=machine._bias,
        visits_of_block=MOST_VISITS if n_parts == 1 else 1,
    )
    with listening(machine) as progress:
        labels = [] if n_parts == 1 else classes.tolist()
        listeners = [progress.part(repr(label), n_parts) for label in labels] or [progress]
        encode = _encoder(dataset, classes, class_weight)
        budget = machine._budget(clock.now() - started)
        seed = machine._seed()
        solutions = FitByBlocks(dataset, solver, problem, encode, listeners, budget, seed).solve()
    _store(machine, dataset, classes, solutions)
    text = shortfall(machine.certificate_, machine._plain_advice)
    if text and not needs_no_pass(solver):
        warnings.warn(text, ConvergenceWarning, stacklevel=5)
    return machine


def _classes(machine: Any, dataset: Dataset) -> Any:
    """The labels in order; None for regression."""
    if not hasattr(machine, "class_weight"):
        if dataset.array("labels").dtype == np.int32:
            raise ValueError(f"{dataset.path} has words for labels; a regression needs numbers")
        return None
    if dataset.labels is None:
        raise ValueError(f"{dataset.path} has more than 10,000 different labels; for targets use {machine.regressor}")
    classes = np.unique(dataset.labels.values)
    if len(classes) < 2:
        raise ValueError(f"{dataset.path} has one class only, {classes.tolist()[0]!r}; a classifier needs two")
    return classes


def _check_labels(dataset: Dataset, classes: Any) -> None:
    """Raise a ValueError where there are labels that the header does not have."""
    if classes is not None and not np.isin(dataset.y, classes).all():
        raise dataset.damaged("labels", "has labels that the header does not")


def _refuse(machine: Any, solver: Solver, dataset: Dataset) -> None:
    """Raise a ValueError where what is asked for cannot be done by blocks."""
    advice = f"raise memory_limit, so that {dataset.path} ({dataset.nbytes:,} bytes) is trained on from memory"
    machine._refuse_unsupported(solver, BlocksProblem, SOLVERS, advice)
    solver.supports[BlocksProblem].check_options(solver, BlocksProblem.label, advice)
    for name, plain in (("scale", None), ("multi_class", "ovr")):
        if getattr(machine, name, plain) != plain:
            raise ValueError(f"{name}={getattr(machine, name)!r} needs the data in memory; leave it out, or {advice}")


def _class_weight(machine: Any, dataset: Dataset, classes: Any) -> NDArray[np.float64] | None:
    """The weight of each class, in their order."""
    given, labels = getattr(machine, "class_weight", None), dataset.labels
    if given is None or labels is None:
        return None
    return class_weights(given, classes, labels.counts[np.argsort(labels.values)])


def _encoder(dataset: Dataset, classes: Any, class_weight: NDArray[np.float64] | None) -> Encoder:
    if classes is None:
        return lambda block: ([block.labels.astype(np.float64)], block.weights)

    def encode(block: Block) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
        labels = dataset.decode(block.labels)
        numbers = np.searchsorted(classes, labels)
        if not np.array_equal(np.take(classes, numbers, mode="clip"), labels):
            raise dataset.damaged("labels", "has labels that the header does not")
        weights = block.weights if class_weight is None else block.weights * class_weight[numbers]
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
