"""What the estimators on Dask collections share: fit, store, predict lazily."""

import copy
import functools
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, Self

import dask
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pegasos.base import clock
from pegasos.base.callbacks import Unseen
from pegasos.base.checkpoint import Context, Given
from pegasos.base.display import listening
from pegasos.base.estimator import at_once, copy_results
from pegasos.base.options import Number, Option, check_options
from pegasos.base.outcome import Budget
from pegasos.base.parameters import Budgets, Explained, Interrupts, Penalty, Seeded, parameter, parameters
from pegasos.base.progress import Named
from pegasos.base.scaling import UnscaledColumns
from pegasos.base.warn import warn
from pegasos.certificate import Certificate
from pegasos.dask.client import find_client
from pegasos.dask.group import DaskGroup
from pegasos.dask.partitions import apply, is_collection, split
from pegasos.linear.distributed.drive import Drive, name_weights, store
from pegasos.linear.distributed.plan import make_plan
from pegasos.linear.estimator import LinearMachine
from pegasos.linear.parameters import ScaledIntercept


@parameters
class DaskParameters(Seeded, Interrupts, ScaledIntercept, Budgets, Penalty):
    """Parameters of all estimators on Dask collections."""

    options: ClassVar[Mapping[str, Option]]

    local_epochs: float | None = parameter(
        None, Number(low=0, open=True, optional=True, help="epochs of a worker between two messages")
    )
    timeout: float = parameter(60.0, Number(low=0, open=True, help="seconds without any worker until a fit fails"))


class DaskMachine(DaskParameters, Explained):
    """Base of the estimators. They hold the estimator of the same name in `pegasos`, which has what a fit found."""

    #: That estimator.
    local: ClassVar[type[LinearMachine]]

    certificate_: Certificate
    rounds_: int
    bytes_per_round_: float
    recoveries_: int
    _held: Any
    #: The Dask client to fit with; None is the current one, as in `xgboost.dask`. It is not a parameter.
    client: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "client"}

    @at_once
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to examples that are spread over the workers of a Dask cluster.

        Parameters
        ----------
        X : dask array, dask data frame, or list of delayed
            The examples; the partitions of an array are by rows, dense or of SciPy CSR matrices. With ``y=None`` a
            list of pairs of delayed ``(X, y)``, or ``(X, y, sample_weight)``.
        y, sample_weight : as X, or arrays
            Labels or targets, and weights, cut at the same rows.
        """
        context = Context(clock.now(), given=Given.of(X, y, sample_weight=sample_weight))
        check_options(self, self.options)
        machine = self._unfitted()
        machine.check_parameters()
        seed = self._seed()
        with find_client(self.client) as client:
            parts = split(X, y, sample_weight)
            group = DaskGroup(client, parts, float(self.timeout), self.random_state is not None)
            try:
                surveys = group.survey(machine)
                plan = make_plan(machine, surveys, seed)
                labels = [repr(plan.classes.tolist()[target]) for target in plan.targets] if len(plan.classes) else [""]
                if uneven := group.describe(plan.C):
                    words = f"On Dask such columns take very many epochs. {uneven}"
                    warn(words, UnscaledColumns)
                budget = Budget(
                    self.tol, self._max_epochs, self.max_time, context.elapsed, keep=self.on_interrupt == "keep"
                )
                with listening(self, context, Unseen(len(labels))) as whole:
                    progress = Named(whole, functools.partial(name_weights, machine, plan))
                    told = [progress]
                    if len(labels) > 1:
                        told = [progress.part(label, k, len(labels)) for k, label in enumerate(labels)]
                    found, tally = Drive(group, plan, surveys, budget, self.local_epochs, told).run()
                    for listener in told:
                        listener.close()
                text = store(machine, plan, found, uneven)
            finally:
                group.close()
        copy_results(machine, self)
        self._held = machine
        self.rounds_, self.recoveries_ = tally.rounds, tally.lost
        self.bytes_per_round_ = tally.bytes / tally.rounds
        warn(text, ConvergenceWarning)
        return self

    def _unfitted(self) -> Any:
        """The local estimator with the same parameters."""
        shared = {one.name for one in fields(self)} & {one.name for one in fields(self.local)}
        return self.local(**{name: getattr(self, name) for name in shared})

    def to_local(self) -> Any:
        """The fitted estimator of the same name in `pegasos`, which needs no Dask."""
        check_is_fitted(self)
        return copy.copy(self._held)

    def _predict_with(self, method: str, X: Any, n_columns: int, dtype: Any) -> Any:
        """What the local estimator's method says of X: lazily of a collection, at once of anything else."""
        local = self.to_local()
        return apply(local, method, X, n_columns, dtype) if is_collection(X) else getattr(local, method)(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The accuracy, for a regression R^2, computed where the examples are."""
        local = self.to_local()
        if not is_collection(X) and y is not None:
            return float(local.score(X, y, sample_weight))
        sums = [dask.delayed(self._score_sums)(local, *part) for part in split(X, y, sample_weight)]
        with find_client(self.client) as client:
            found = np.sum(client.gather(client.compute(sums)), axis=0)
        return self._score_from(found)

    @staticmethod
    def _score_sums(local: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        """Sums over a partition from which its score follows."""
        raise NotImplementedError

    @staticmethod
    def _score_from(sums: Any) -> float:
        """The score, from the sums of all partitions."""
        raise NotImplementedError
