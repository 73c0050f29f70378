"""Sequence labelling: a chain of labels, trained by the structured hinge loss."""

import functools
import math
from collections.abc import Collection
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pegasos._core import native
from pegasos._threads import usable_threads
from pegasos.base import clock
from pegasos.base.available import available
from pegasos.base.callbacks import Problems
from pegasos.base.checkpoint import Context, Given, checkpointing
from pegasos.base.display import listening
from pegasos.base.estimator import Common, Machine, at_once, of_one_model, shortfall
from pegasos.base.memory import refuse_beyond
from pegasos.base.options import Flag, Integer
from pegasos.base.outcome import Solution, Start, refuse_overflow
from pegasos.base.parameters import parameter, parameters
from pegasos.base.progress import Named
from pegasos.base.rows import check_rows
from pegasos.base.scaling import describe_offsets, describe_sizes
from pegasos.base.scores import score_rows
from pegasos.base.solver import WARM_START, refuse_unsupported
from pegasos.base.validation import check_cost, check_weights, require_targets, sum_weights
from pegasos.base.warn import warn
from pegasos.certificate import Certificate, History
from pegasos.io.dataset import Dataset
from pegasos.problems.sequence import Labellings, SequencePoint, SequenceProblem
from pegasos.sequence.input import Encoder, Labels, Sequences, encode_labels, look_up_labels, take_labels
from pegasos.solvers import SEQUENCE_SOLVERS, Solver

Floats = NDArray[np.float64]
Constraints = str | Collection[tuple[Any, Any]]


@parameters
class SequenceParameters(Common):
    """Parameters of machines for sequences."""

    C: float = 0.1
    tol: float = 0.1
    max_iter: int = 10_000
    cost: ArrayLike | None = None
    constraints: Constraints | None = None
    boundaries: bool = parameter(True, Flag(help="have weights for the first and the last label"))
    min_count: int = parameter(1, Integer(low=1, help="leave out features that occur less often"))
    hash_bits: int | None = parameter(
        None, Integer(low=1, high=28, optional=True, help="number features by this many bits of their hash")
    )


class SequenceSVC(SequenceParameters, Machine):
    """Support vector machine for sequences of labels: structured hinge loss on a chain of first order.

    It minimises ``1/2 ||w||^2 + C sum_i s_i max_y (cost(y_i, y) + <w, phi(x_i, y)> - <w, phi(x_i, y_i)>)`` over all
    sequences i. The score ``<w, phi(x, y)>`` of labels y has a term for each position (its features, its label) and one
    for each pair of neighbouring labels. The cost counts the wrong labels, or sums `cost` over them.

    X is one of these:

    - a list of sequences, each a list of positions, each a list of strings or a dictionary from names to values;
    - a list of sequences, each a matrix with a row for each position;
    - one matrix of all positions, with ``lengths``.

    Parameters
    ----------
    C : float, default=0.1
        Weight of the loss. The loss of a sequence grows with its length, so a smaller C is enough than for single
        examples. A few short sequences may need a larger one.
    alpha : float, default=None
        The papers' lambda. It replaces C: ``C = 1 / (alpha n)``, where n is the total weight of the sequences.
    cost : array-like of shape (n_labels, n_labels), default=None
        ``cost[j, k]`` is the cost of label k if j is right, in the order of ``classes_``. None counts errors.
    constraints : "bio" or list of pairs, default=None
        Links of labels that are never predicted: pairs (label, next label), where None stands for the start or the
        end. "bio" allows ``I-X`` only after ``B-X`` or ``I-X``. Training labels that break the constraints raise an
        error.
    boundaries : bool, default=True
        Whether the first and the last label of a sequence have weights.
    fit_intercept : bool, default=True
        Whether to have a constant feature, so that each label has a weight whatever the features.
    min_count : int, default=1
        Leave out strings and names that occur less often.
    hash_bits : int, default=None
        Use ``2 ** hash_bits`` features, by the hash of the string, instead of a vocabulary. Only for strings and
        dictionaries, not for matrices.
    solver : {"auto", "frank-wolfe", "pegasos"} or Solver, default="auto"
        The method; "auto" is `FrankWolfe`.
    tol : float, default=0.1
        Stop when the relative duality gap is this small. Labels settle long before the last digits of the objective.
    max_iter : int, default=10000
        Budget in epochs; an epoch visits as many sequences as there are.
    max_time : float, default=None
        Budget in seconds.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does to a fit, as in `LinearSVC`.
    checkpoint : str, path-like or Checkpoint, default=None
        A folder for checkpoints, as in `LinearSVC`.
    warm_start : bool, default=False
        Whether to continue from the last fit, with the same sequences and labels, and perhaps another C. The solver
        "pegasos" does not support it.
    n_jobs : int, default=None
        Threads. None means one for training, and as many as pay off for predictions; -1 means as many as there are
        processors.
    random_state : int, RandomState or None, default=None
        Seed of the order of visits.
    verbose : int, default=0
        1 shows a bar on a terminal or in a notebook, and a few lines elsewhere; 2 prints a line for each check.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The labels, sorted.
    coef_ : ndarray of shape (n_labels, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (n_labels,)
        Weights of the labels, whatever the features.
    transitions_ : ndarray of shape (n_labels, n_labels)
        Weights of a label (row) followed by another (column); minus infinity if that is forbidden.
    start_, end_ : ndarray of shape (n_labels,)
        Weights of the first and the last label.
    certificate_ : Certificate
        Bounds on the optimum.
    history_ : dict of ndarray
        The bounds at each check.
    n_iter_ : int
        Epochs begun.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> from pegasos import SequenceSVC
    >>> X = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=dogs"], ["w=bark"]]]
    >>> y = [["D", "N", "V"], ["N", "V"]]
    >>> model = SequenceSVC(C=1.0, random_state=0).fit(X, y)
    >>> model.predict([[["w=the"], ["w=cat"], ["w=barks"]]])
    [['D', 'N', 'V']]
    >>> model.certificate_.converged
    True
    """

    docs_page = "sequence.md"

    classes_: NDArray[Any]
    coef_: Floats
    intercept_: Floats
    transitions_: Floats
    start_: Floats
    end_: Floats
    history_: History
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _encoder: Encoder
    _last: Labellings | None

    solvers = SEQUENCE_SOLVERS

    @at_once
    def fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, *, lengths: ArrayLike | None = None
    ) -> Self:
        """Fit to the sequences X with labels y.

        Parameters
        ----------
        X : list of sequences, or matrix with `lengths`
            A sequence is a list of positions (lists of strings, or dictionaries), or a matrix with a row for each.
        y : list of sequences of labels, or array with `lengths`
            A label for each position, strings or whole numbers.
        sample_weight : array-like of shape (n_sequences,), default=None
            The weight of each sequence.
        lengths : array-like of int, default=None
            The length of each sequence, if X is one matrix of all positions.
        """
        started = clock.now()
        if isinstance(X, Dataset):
            raise TypeError(
                "SequenceSVC takes sequences, and a data set has single examples; pass lists of positions and their "
                "labels, or fit LinearSVC to it"
            )
        require_targets(self, y)
        solver = self.check_parameters()
        last = self._last if self.warm_start and hasattr(self, "classes_") else None
        encoder = Encoder(int(self.min_count), self.hash_bits)
        sequences = encoder.fit(X, lengths)
        labels = encode_labels(take_labels(y, sequences))
        if last is not None:
            last = self._check_last(last, labels, sequences)
        barriers = self._barriers(labels.classes)
        _check_allowed(labels, sequences, barriers)
        if last is not None:
            last = _drop_forbidden(last, sequences, barriers)
        weights = _weights_of(sequences, sample_weight)
        C = self.weight_of_loss(sum_weights(weights))
        cost = check_cost(self.cost, len(labels.classes))
        refuse_beyond(
            8 * sequences.X.shape[1] * len(labels.classes),
            f"the weights of {sequences.X.shape[1]} features with {len(labels.classes)} labels",
            "lower hash_bits, or raise min_count",
        )
        rows, facts = check_rows(sequences.X, float(bool(self.fit_intercept)), self._threads() or 1)
        core = native.SequenceProblem(
            rows, sequences.starts, labels.encoded, weights, C, cost, barriers, bool(self.boundaries)
        )
        problem = SequenceProblem(
            n_rows=len(sequences),
            C=C,
            total_weight=float(weights.sum()),
            loss="hinge",
            core=core,
            n_labels=len(labels.classes),
        )

        self._check_names(X, reset=True)
        told = Problems(_encoder=encoder, classes_=labels.classes, n_features_in_=sequences.X.shape[1])
        data = (sequences.X, sequences.starts, labels.encoded, weights)
        context = Context(started, self._seed(), Given.of(X, y, lengths=lengths, sample_weight=sample_weight))
        try:
            with checkpointing(self, context, *data) as context:
                with listening(self, context, told) as progress:
                    budget = self._budget(context.elapsed)
                    start, n_labels = None if last is None else Start(last), problem.n_labels
                    links = n_labels * (n_labels + 2)  # which come last
                    named = Named(progress, lambda flat: _name(flat[:-links], flat[-links:], n_labels))
                    found = solver.solve(problem, budget, context.seed, start, named)
                self._encoder, self.classes_ = encoder, labels.classes
                self._store(found)
        except MemoryError:
            n_features, n_labels = sequences.X.shape[1], len(labels.classes)
            raise MemoryError(
                f"the weights of {n_features} features with {n_labels} labels, some "
                f"{20e-9 * n_features * n_labels:.2g} GB, do not fit into memory; lower hash_bits, or raise min_count"
            ) from None
        advice = functools.partial(self._advice, X=sequences.X, longest=math.sqrt(facts.largest_squared_norm))
        warn(shortfall(self.certificate_, advice, context.earlier), ConvergenceWarning)
        return self

    @of_one_model
    def predict(self, X: Any, lengths: ArrayLike | None = None) -> Any:
        """The best labels of each sequence: a list for each, or with `lengths` one array of all positions."""
        sequences, labels, _ = self._decode(X, lengths)
        return sequences.cut(self.classes_[labels])

    @of_one_model
    def decision_function(self, X: Any, lengths: ArrayLike | None = None) -> Any:
        """For each position and label, the best score of the whole sequence with this label at this position.

        An array of shape (n_positions, n_labels) for each sequence, or with `lengths` one array for all positions.
        """
        sequences, _, scores = self._decode(X, lengths, scores=True)
        return sequences.cut(scores)

    @of_one_model
    def margins(self, X: Any, lengths: ArrayLike | None = None) -> Any:
        """For each position, how far the best labelling scores above the best one with another label there."""
        sequences, labels, scores = self._decode(X, lengths, scores=True)
        positions = np.arange(len(labels))
        best = scores[positions, labels]
        scores[positions, labels] = -np.inf
        return sequences.split(best - scores.max(axis=1, initial=-np.inf))

    def _refuse_probabilities(self) -> None:
        raise AttributeError(
            "SequenceSVC has no probabilities, as its loss is no likelihood; margins(X) has by how much the best "
            "labels score above others at each position, and decision_function(X) the scores of all labels"
        )

    @available(_refuse_probabilities)
    def predict_proba(self, X: Any) -> Any:
        """Not there: a structured hinge loss has no probabilities. See `margins`."""

    predict_marginals = predict_log_proba = predict_proba

    @of_one_model
    def score(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, lengths: ArrayLike | None = None
    ) -> float:
        """The share of positions with the right label. Labels that were not in the training data count as wrong."""
        sequences, labels, _ = self._decode(X, lengths)
        right = look_up_labels(take_labels(y, sequences), self.classes_) == labels
        if len(right) == 0:
            raise ValueError("X has no positions, so that there is nothing to score; pass sequences that have some")
        weights = np.repeat(_weights_of(sequences, sample_weight), sequences.lengths)
        sum_weights(weights)
        return float(np.average(right, weights=weights))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # a matrix does not tell where sequences end
        return tags

    @property
    def feature_names_(self) -> list[str]:
        """The names of the features, in the order of the columns of ``coef_``."""
        check_is_fitted(self)
        return self._encoder.names(getattr(self, "feature_names_in_", None))

    @property
    @of_one_model
    def state_features_(self) -> dict[tuple[str, Any], float]:
        """The weight of each (feature, label); weights of zero are left out."""
        names, classes = self.feature_names_, self.classes_.tolist()
        labels, features = np.nonzero(self.coef_)
        weights = self.coef_[labels, features].tolist()
        pairs = zip(features.tolist(), labels.tolist(), strict=True)
        return {(names[j], classes[k]): weight for (j, k), weight in zip(pairs, weights, strict=True)}

    @property
    @of_one_model
    def transition_features_(self) -> dict[tuple[Any, Any], float]:
        """The weight of each (label, next label)."""
        check_is_fitted(self)
        classes = self.classes_.tolist()
        return {
            (before, after): float(self.transitions_[j, k])
            for j, before in enumerate(classes)
            for k, after in enumerate(classes)
        }

    def _advice(self, found: Certificate, X: Any, longest: float) -> str:
        """Why a fit fell short of `tol`, and what to do about it; `longest` is the norm of a position."""
        names = getattr(self, "feature_names_in_", None)
        uneven = describe_offsets(X, names) or describe_sizes(X, names, "scale them (sklearn.preprocessing)")
        if not uneven and longest > 100:
            uneven = f"The longest position has norm {longest:.3g}: scale the features (sklearn.preprocessing)."
        return " ".join([*self._bounds_reached(found), *filter(None, [uneven]), self._raise_what(found, bool(uneven))])

    def _refuse_combinations(self, solver: Solver) -> None:
        if self.warm_start:
            refuse_unsupported(solver, SequenceProblem, SEQUENCE_SOLVERS, [WARM_START])
        named = isinstance(self.constraints, str) and self.constraints == "bio"
        if not (self.constraints is None or named or isinstance(self.constraints, list | tuple | set | frozenset)):
            raise ValueError(f"constraints={self.constraints!r}: must be 'bio', a list of pairs of labels, or None")

    def _check_last(self, last: Labellings, labels: Labels, sequences: Sequences) -> Labellings | None:
        """The start of a fit that continues the last one; none where the sequences are others."""
        if not np.array_equal(labels.classes, self.classes_):
            raise ValueError(
                f"warm_start=True continues the previous fit, but the labels changed from {self.classes_.tolist()} to "
                f"{labels.classes.tolist()}; pass the same ones, or a new estimator"
            )
        counts = np.bincount(last.owners, minlength=len(sequences))
        fits = len(counts) == len(sequences) and int(counts @ sequences.lengths) == len(last.labels)
        return last if fits else None

    def _barriers(self, classes: NDArray[Any]) -> Floats:
        """Zero, or minus infinity where a link is forbidden: rows for each label before, the start and the end."""
        names = classes.tolist()
        barriers = np.zeros((len(names) + 2, len(names)))
        if self.constraints is None:
            return barriers
        pairs = _bio(names) if isinstance(self.constraints, str) else list(self.constraints)
        numbers = {name: k for k, name in enumerate(names)}
        for pair in pairs:
            try:
                before, after = pair
            except (TypeError, ValueError):
                raise ValueError(f"constraints hold {pair!r}; they must be pairs (label, next label)") from None
            for label in (before, after):
                if label is not None and label not in numbers:
                    raise ValueError(f"constraints name the label {label!r}, which is not in y: {names}")
            if before is None and after is None:
                raise ValueError("constraints hold (None, None), which is no link of a label")
            if after is None:
                barriers[len(names) + 1, numbers[before]] = -np.inf
            else:
                barriers[len(names) if before is None else numbers[before], numbers[after]] = -np.inf
        return barriers

    def _store(self, found: Solution[SequencePoint]) -> None:
        point = found.point
        refuse_overflow(point.weights, found.bounds.primal, of="C, weights and features")
        self.__dict__.update(_name(point.weights, point.links, len(self.classes_)))
        self.n_features_in_ = self.coef_.shape[1]
        self._last = point.labellings
        self._store_outcome([found], [found.certificate(self.tol)], found.seconds)

    def _decode(
        self, X: Any, lengths: ArrayLike | None, scores: bool = False
    ) -> tuple[Sequences, NDArray[np.intp], Floats]:
        """The sequences, the number of the best label at each position, and where asked for the scores of all."""
        check_is_fitted(self)
        sequences = self._encoder.transform(X, lengths)
        self._check_names(X, reset=False)
        scored = score_rows(sequences.X, self.coef_, self.intercept_, self.n_jobs)
        links = np.vstack([self.transitions_, self.start_, self.end_])
        jobs = self._threads() or (usable_threads() if len(scored) > 10_000 else 1)
        labels, best = native.sequence_decode(scored, sequences.starts, links, scores, native.Run(n_jobs=jobs))
        return sequences, labels.astype(np.intp), best.reshape(-1, len(self.classes_))

    def _check_names(self, X: Any, reset: bool) -> None:
        """The names of a data frame's columns: take them down, or raise a ValueError where they are others."""
        names = np.asarray(X.columns, dtype=object) if hasattr(X, "columns") else None
        if reset:
            self.__dict__.pop("feature_names_in_", None)
            if names is not None and all(isinstance(name, str) for name in names):
                self.feature_names_in_ = names
            return
        known = getattr(self, "feature_names_in_", None)
        if names is not None and known is not None and names.tolist() != known.tolist():
            raise ValueError(
                f"X has the columns {names.tolist()}, but the model was trained on {known.tolist()}; pass these, in "
                "this order"
            )


def _name(weights: Floats, links: Floats, n_labels: int) -> dict[str, Floats]:
    """The weights under the names of the attributes that have them."""
    table, links = weights.reshape(-1, n_labels), links.reshape(n_labels + 2, n_labels)
    return {
        "coef_": table[:-1].T,  # a view: the table may be large
        "intercept_": table[-1].copy(),
        "transitions_": links[:-2].copy(),
        "start_": links[-2].copy(),
        "end_": links[-1].copy(),
    }


def _bio(names: list[Any]) -> list[tuple[Any, Any]]:
    """The links that labels such as B-X, I-X and O do not have."""
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"constraints='bio' is for labels such as 'B-X', 'I-X' and 'O', and y has {names}")
    inside = [name for name in names if name.startswith("I-")]
    return [(before, after) for after in inside for before in [None, *names] if before not in (f"B-{after[2:]}", after)]


class ForbiddenLink(ValueError):
    """Training labels have a link that the constraints forbid; the message names it."""

    def __init__(self, sequence: int, position: int, link: str) -> None:
        self.sequence = sequence
        self.position = position
        self.link = link
        super().__init__(
            f"y[{sequence}] has {link}, at position {position}, which constraints forbid; mend the labels, or relax "
            "the constraints"
        )


def _check_allowed(labels: Labels, sequences: Sequences, barriers: Floats) -> None:
    """Raise a ForbiddenLink where labels have one."""
    starts = sequences.starts.astype(np.intp)
    before, wrong, wrong_end = _find_forbidden(labels.encoded, starts, barriers)
    places = np.flatnonzero(wrong | wrong_end)
    if len(places) == 0:
        return
    place = int(places[0])
    i = int(np.searchsorted(starts, place, side="right")) - 1
    if not wrong[place]:
        where = "at the end"
    elif before[place] == len(labels.classes):
        where = "at the start"
    else:
        where = f"after {str(labels.classes[before[place]])!r}"
    own = str(labels.classes[labels.encoded[place]])
    raise ForbiddenLink(i, place - int(starts[i]), f"the label {own!r} {where}")


def _drop_forbidden(last: Labellings, sequences: Sequences, barriers: Floats) -> Labellings:
    """The labellings that constraints allow: they may be others than at the last fit."""
    lengths = sequences.lengths[last.owners]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
    _, wrong, wrong_end = _find_forbidden(last.labels, starts, barriers)
    numbers = np.repeat(np.arange(len(lengths)), lengths)  # of the labelling, for each position
    allowed = np.bincount(numbers[wrong | wrong_end], minlength=len(lengths)) == 0
    return Labellings(last.owners[allowed], last.shares[allowed], last.labels[allowed[numbers]])


def _find_forbidden(
    labels: NDArray[np.uint16], starts: NDArray[np.intp], barriers: Floats
) -> tuple[NDArray[np.intp], NDArray[np.bool_], NDArray[np.bool_]]:
    """Of each position what is before it, whether it must not follow that, and whether it must not be the end."""
    forbidden, n_labels, encoded = np.isneginf(barriers), barriers.shape[1], labels.astype(np.intp)
    filled = starts[:-1] < starts[1:]
    before = np.concatenate([[n_labels], encoded[:-1]])[: len(encoded)]
    before[starts[:-1][filled]] = n_labels
    at_end = np.zeros(len(encoded), dtype=bool)
    at_end[starts[1:][filled] - 1] = True
    return before, forbidden[before, encoded], at_end & forbidden[n_labels + 1, encoded]


def _weights_of(sequences: Sequences, sample_weight: ArrayLike | None) -> Floats:
    """The weight of each sequence."""
    if len(sequences) == 0:
        raise ValueError("X has no sequences; give at least one")
    if sample_weight is None:
        return np.ones(len(sequences))
    return check_weights(sample_weight, sequences.lengths, what="sequence")
