"""Properties of all estimators on whatever data: a certificate that holds, or an explicit error or warning.

Shapes, types, layouts and extreme numbers are drawn by hypothesis, which shrinks what fails to a small example. An
independent evaluation in long double confirms each certificate.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from audit.confirm import NO_BOUND, confirm
from audit.evaluation import IS_WIDE
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pegasos import SVC, SVR, LinearSVC, LinearSVR, SequenceSVC
from pegasos.problems.kernel import KernelProblem
from pegasos.solvers import KERNEL_SOLVERS

pytestmark = pytest.mark.skipif(
    not IS_WIDE, reason="long double is no wider than double, so that nothing can be checked"
)

FEW = settings(max_examples=60, derandomize=True, deadline=None, database=None)
MANY = settings(FEW, max_examples=2000, suppress_health_check=list(HealthCheck))

SIZES = (1.0, 1.0, 1.0, 0.0, 5e-324, 1e-310, 1e-300, 1e-150, 1e-30, 1e30, 1e150, 1e300)
plain = st.integers(-3, 3).map(float) | st.floats(-2, 2, width=32)
numbers = plain | st.sampled_from([5e-324, 2.5e-308, -1e-300, 1e-150, -1e150, 1e300, -1.7e308])
weighting = st.none() | st.sampled_from([(1.0, 2.0), (0.0, 1.0), (1e-300, 1.0), (1e150, 1e-150), (1e300,)])


@st.composite
def examples(draw, least=2, most=9, extreme=True):
    """Rows: with scales by column, copies of others, in any type and layout."""
    rows, columns = draw(st.integers(least, most)), draw(st.integers(1, 4))
    X = draw(
        arrays(np.float64, (rows, columns), elements=draw(st.sampled_from([plain, numbers])) if extreme else plain)
    )
    if extreme:
        with np.errstate(over="ignore"):
            X = np.clip(
                X * draw(st.lists(st.sampled_from(SIZES), min_size=columns, max_size=columns)), -1.7e308, 1.7e308
            )
    if draw(st.booleans()):
        X = X[draw(st.lists(st.integers(0, rows - 1), min_size=rows, max_size=rows))]
    kind = draw(st.sampled_from(["float64", "float64", "float32", "int64", "int8"]))
    with np.errstate(all="ignore"):
        return np.nan_to_num(X).astype(kind) if kind.startswith("float") else np.clip(X, -100, 100).astype(kind)


def laid_out(draw, X):
    form = draw(st.sampled_from(["C", "F", "strided", "csr", "csc", "csr 64"]))
    if form == "strided":
        return np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    if form in ("C", "F"):
        return np.array(X, order=form)
    out = sp.csc_array(X) if form == "csc" else sp.csr_matrix(X)
    if form == "csr 64":
        out.indices, out.indptr = out.indices.astype(np.int64), out.indptr.astype(np.int64)
    return out


def labels_of(draw, rows, classes):
    """Labels, each of which occurs."""
    y = draw(st.lists(st.integers(0, classes - 1), min_size=rows, max_size=rows))
    return np.unique([*range(classes), *y][:rows], return_inverse=True)[1]


def weights_of(draw, count):
    cycle = draw(weighting)
    return None if cycle is None else np.resize(cycle, count)


def holds(estimator, X, y, weights=None, lengths=None):
    """A certificate that is confirmed, or an error, or a warning and nothing that is not so."""
    more = {} if lengths is None else {"lengths": lengths}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            estimator.fit(X, y, sample_weight=weights, **more)
        except ValueError:
            return
    if weights is not None and ((weights > 0) & (weights < 5e-324 / estimator.C)).any():
        return  # costs C * weight that vanish in double precision, which the oracle computes them in
    findings = [found for found in confirm(estimator, X, y, weights, lengths) if not (told and found.kind in NO_BOUND)]
    assert not findings
    assert estimator.certificate_.converged or told


COSTS = st.sampled_from([1.0, 1.0, 1e-3, 1e3, 1e-300, 1e-10, 1e10, 1e300])
TOLS = st.sampled_from([1e-3, 1e-1, 1e-6])


def linear_classes(data):
    X = data.draw(examples())
    y = labels_of(data.draw, len(X), min(len(X), data.draw(st.integers(2, 3))))
    estimator = LinearSVC(
        C=data.draw(COSTS),
        tol=data.draw(TOLS),
        loss=data.draw(st.sampled_from(["hinge", "squared_hinge", "log_loss"])),
        solver=data.draw(st.sampled_from(["auto", "sdca", "pegasos", "sgd-m", "interior-point", "ocas", "newton"])),
        intercept=data.draw(st.sampled_from(["penalized", "free"])),
        fit_intercept=data.draw(st.booleans()),
        max_iter=100,
        random_state=0,
    )
    holds(estimator, laid_out(data.draw, X), y, weights_of(data.draw, len(X)))


def joint_classes(data):
    X = data.draw(examples(least=3))
    y = labels_of(data.draw, len(X), 3)
    loss = data.draw(st.sampled_from(["hinge", "log_loss"]))
    estimator = LinearSVC(multi_class="joint", C=data.draw(COSTS), loss=loss, max_iter=100, random_state=0)
    holds(estimator, laid_out(data.draw, X), y, weights_of(data.draw, len(X)))


def linear_targets(data):
    X = data.draw(examples())
    y = data.draw(arrays(np.float64, len(X), elements=data.draw(st.sampled_from([plain, numbers]))))
    estimator = LinearSVR(
        C=data.draw(COSTS),
        tol=data.draw(TOLS),
        loss=data.draw(st.sampled_from(["epsilon_insensitive", "squared_epsilon_insensitive", "huber"])),
        solver=data.draw(st.sampled_from(["auto", "newton"])),
        epsilon=data.draw(st.sampled_from([0.1, 1.0])),
        intercept=data.draw(st.sampled_from(["penalized", "free"])),
        max_iter=100,
        random_state=0,
    )
    holds(estimator, laid_out(data.draw, X), y, weights_of(data.draw, len(X)))


def kernel_classes(data):
    X = data.draw(examples())
    y = labels_of(data.draw, len(X), min(len(X), data.draw(st.integers(2, 3))))
    estimator = SVC(
        C=data.draw(COSTS),
        tol=data.draw(TOLS),
        kernel=data.draw(st.sampled_from(["rbf", "linear"])),
        fit_intercept=data.draw(st.booleans()),
        max_iter=100,
        random_state=0,
    )
    holds(estimator, laid_out(data.draw, X), y, weights_of(data.draw, len(X)))


def kernel_targets(data):
    X = data.draw(examples())
    y = data.draw(arrays(np.float64, len(X), elements=data.draw(st.sampled_from([plain, numbers]))))
    kernel = data.draw(st.sampled_from(["rbf", "linear"]))
    estimator = SVR(C=data.draw(COSTS), tol=data.draw(TOLS), kernel=kernel, max_iter=100, random_state=0)
    holds(estimator, laid_out(data.draw, X), y, weights_of(data.draw, len(X)))


def kernel_solvers(data):
    """Every solver and kernel, definite or not, with costs up to the largest: it ends, and its bounds are numbers."""
    X = data.draw(examples())
    y = labels_of(data.draw, len(X), 2)
    solver = data.draw(st.sampled_from(sorted(KERNEL_SOLVERS)))
    free = "free" in KERNEL_SOLVERS[solver].supports[KernelProblem].intercepts
    estimator = SVC(
        C=data.draw(COSTS | st.just(1e308)),
        solver=solver,
        kernel=data.draw(st.sampled_from(["rbf", "linear", "sigmoid", "poly", "precomputed"])),
        gamma=data.draw(st.sampled_from(["scale", 1.0, 1e-3])),
        fit_intercept=free and data.draw(st.booleans()),
        max_iter=50,
        random_state=0,
    )
    if estimator.kernel == "precomputed":
        with np.errstate(all="ignore"):
            X = np.clip(np.nan_to_num(X.astype(np.float64)), -1e150, 1e150)
            X = X @ X.T - data.draw(st.sampled_from([0.0, 1.0]))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = estimator.fit(X, y, sample_weight=weights_of(data.draw, len(X))).certificate_
        except ValueError:
            return
    assert found.dual <= found.primal
    assert found.gap >= 0
    assert found.converged or told


def sequences(data):
    X = data.draw(examples(least=4, most=6))
    first = data.draw(st.integers(1, len(X) - 1))
    lengths = [first, len(X) - first]
    y = labels_of(data.draw, len(X), 2)
    estimator = SequenceSVC(
        C=data.draw(COSTS),
        tol=data.draw(TOLS),
        boundaries=data.draw(st.booleans()),
        fit_intercept=data.draw(st.booleans()),
        max_iter=50,
        random_state=0,
    )
    holds(estimator, laid_out(data.draw, X), y, weights_of(data.draw, 2), lengths)


@pytest.mark.parametrize("machine", [LinearSVC, LinearSVR, SVC, SVR])
@pytest.mark.parametrize("weight", [5e-324, 1e-322, 1e-310, 3e-308])
def test_bounds_allow_for_underflow(machine, weight):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 6))
    y = (X[:, 0] > 0).astype(int) if machine in (LinearSVC, SVC) else X @ random.normal(size=6)
    holds(machine(max_iter=100, random_state=0), X, y, np.full(60, weight))


@pytest.mark.parametrize(
    ("estimator", "y"),
    [
        (LinearSVR(C=1e-300, epsilon=1.0, intercept="free", loss="squared_epsilon_insensitive"), [0.0, 2.0]),
        (LinearSVR(epsilon=0.1, loss="huber"), [0.0, 5e-324]),
    ],
    ids=["C", "target"],
)
def test_an_objective_below_the_least_double_is_not_told_as_zero(estimator, y):
    holds(estimator.set_params(max_iter=100, random_state=0), np.zeros((2, 1)), np.array(y))


PROPERTIES = [
    linear_classes,
    joint_classes,
    linear_targets,
    kernel_classes,
    kernel_targets,
    kernel_solvers,
    sequences,
]
any_property = pytest.mark.parametrize("fits", PROPERTIES, ids=lambda fits: fits.__name__.replace("_", "-"))


@any_property
@FEW
@given(data=st.data())
def test_certified_or_told(fits, data):
    fits(data)


@pytest.mark.slow
@any_property
@MANY
@given(data=st.data())
def test_certified_or_told_many(fits, data):
    fits(data)
