"""What the estimators on Dask collections share: fit, store, predict lazily."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import dask
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pegasos.base import clock
from pegasos.base.estimator import shortfall
from pegasos.base.options import Number, Option, check_options
from pegasos.base.outcome import Budget
from pegasos.base.progress import make_report
from pegasos.certificate import Certificate, certificate_of, history_from_records, join_parts
from pegasos.dask.client import find_client
from pegasos.dask.group import DaskGroup
from pegasos.dask.lazy import apply
from pegasos.dask.partitions import is_collection, split
from pegasos.linear.distributed import Found, Plan, Tally, drive, make_plan
from pegasos.linear.estimator import LinearMachine, State

__all__ = ["DaskMachine"]

ELSEWHERE = "is none that Dask's workers serve; leave it out, or use the estimator of the same name in pegasos"


class DaskMachine(LinearMachine):
    """Base of the estimators: what differs from the local one."""

    #: The estimator on data in one piece.
    local: ClassVar[type[LinearMachine]]
    #: Parameters that it has and these have not.
    not_served: ClassVar[Mapping[str, str]] = {
        "solver": "the workers' dual coordinate ascent is the only solver; leave it out",
        "intercept": "the intercept is penalized; leave it out, or use the estimator of the same name in pegasos",
        "n_jobs": "threads are those that Dask's workers have (threads_per_worker of the cluster); leave it out",
        **dict.fromkeys(
            (
                "scale",
                "multi_class",
                "cost",
                "warm_start",
                "early_stopping",
                "validation_fraction",
                "n_iter_no_change",
            ),
            ELSEWHERE,
        ),
    }
    distributed_options: ClassVar[Mapping[str, Option]] = {
        "local_epochs": Number(low=0, open=True, optional=True, help="epochs of a worker between two messages"),
        "timeout": Number(low=0, open=True, help="seconds without any worker until a fit fails"),
    }

    # What the local estimator has as parameters.
    solver = "sdca"
    intercept = "penalized"
    scale = None
    warm_start = False
    n_jobs = 1

    local_epochs: float | None
    timeout: float
    rounds_: int
    bytes_per_round_: float
    recoveries_: int
    _client: Any = None

    @property
    def client(self) -> Any:
        """The Dask client to fit with; None is the current one, as in `xgboost.dask`. It is not a parameter."""
        return self._client

    @client.setter
    def client(self, client: Any) -> None:
        self._client = client

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_client"}

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
        started = clock.now()
        machine = self._unfitted()
        machine.check_parameters()
        check_options(self, self.distributed_options)
        seed = self._seed()
        with find_client(self._client) as client:
            group = DaskGroup(client, split(X, y, sample_weight), float(self.timeout))
            try:
                surveys = group.survey(machine)
                plan = make_plan(machine, surveys, seed)
                report = make_report(self.verbose)
                labels = [repr(plan.classes.tolist()[target]) for target in plan.targets] if len(plan.classes) else [""]
                parts = [report.part(label) for label in labels] if len(plan.targets) > 1 else [report]
                elapsed = clock.now() - started
                budget = Budget(self.tol, self.max_iter, self.max_time, elapsed)
                try:
                    found, tally = drive(group, plan, surveys, budget, self.local_epochs, parts)
                finally:
                    report.close()
            finally:
                group.close()
        self._keep(plan, found, tally)
        text = shortfall(self.certificate_, self._say_why)
        if text:
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        return self

    def _say_why(self, worst: Certificate) -> str:
        return " ".join([*self._bounds_reached(worst), self._raise_what(worst, False)])

    def _unfitted(self) -> Any:
        """The local estimator with the same parameters."""
        known = self.local().get_params(deep=False)
        return self.local(**{name: value for name, value in self.get_params(deep=False).items() if name in known})

    def _keep(self, plan: Plan, found: Sequence[Found], tally: Tally) -> None:
        """Store what was found."""
        coef = np.array([one.w[:-1] for one in found])
        self._store_weights(coef, np.array([float(one.w[-1]) * plan.bias for one in found]))
        certificates = [certificate_of(one, self.tol) for one in found]
        histories = [history_from_records(one.records) for one in found]
        several = len(found) > 1
        self.certificate_ = join_parts(certificates, found[0].seconds) if several else certificates[0]
        self.history_ = histories if several else histories[0]
        self.n_iter_ = self.certificate_.n_iter
        self.rounds_, self.recoveries_ = tally.rounds, tally.losses
        self.bytes_per_round_ = tally.bytes / tally.rounds
        self.scale_ = None
        self.n_features_in_ = plan.n_features
        if plan.names is not None:
            self.feature_names_in_ = np.array(plan.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if len(plan.classes):
            self.classes_ = plan.classes
        steps = round(max(one.epochs for one in found) * plan.n_rows)
        self._last = State(steps, None, self.loss, tuple(State(steps, None, self.loss) for _ in found if several))

    def to_local(self) -> Any:
        """The estimator of the same name in `pegasos`, fitted: it needs no Dask."""
        check_is_fitted(self)
        local = self._unfitted()
        names = ("coef_", "intercept_", "classes_", "certificate_", "history_", "n_iter_", "scale_", "n_features_in_")
        for name in (*names, "feature_names_in_", "_last"):
            if name in vars(self):
                setattr(local, name, getattr(self, name))
        return local

    def _predict_with(self, method: str, X: Any, n_columns: int, dtype: Any) -> Any:
        """What the local estimator's method says of X: lazily of a collection, at once of anything else."""
        local = self.to_local()
        return apply(local, method, X, n_columns, dtype) if is_collection(X) else getattr(local, method)(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The accuracy, or of regression R^2, computed where the examples are."""
        local = self.to_local()
        if not is_collection(X) and y is not None:
            return float(local.score(X, y, sample_weight))
        sums = [dask.delayed(self._score_sums)(local, *part) for part in split(X, y, sample_weight)]
        with find_client(self._client) as client:
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
