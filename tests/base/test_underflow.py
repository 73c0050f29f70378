"""Bounds hold where terms fall below the smallest numbers of double precision, and C makes much of what is left."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from pegasos import SVC, SVR, LinearSVC, LinearSVR, SequenceSVC

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X = np.array([[1.0], [-1.0], [0.5]])
LABELS = np.array([1, -1, -1])
SIZES = [5e-324, 1e-322, 1e-310]


def exact(x):
    """A number of extended precision as a fraction."""
    high = float(x)
    return Fraction(high) + Fraction(float(x - np.longdouble(high)))


def loss_of(name, z, y, parameter):
    """At exact numbers; `parameter` is epsilon or the quantile."""
    if name == "log_loss":
        margin = np.longdouble(float(y * z))
        return exact(np.logaddexp(np.longdouble(0), -margin))
    if name == "squared_hinge":
        return max(1 - y * z, 0) ** 2
    if name == "quantile":
        return (parameter if z < y else parameter - 1) * (y - z)
    size = abs(z - y)
    if name == "huber":
        return size**2 / 2 if size <= parameter else parameter * (size - parameter / 2)
    return max(size - parameter, 0) ** (2 if name.startswith("squared") else 1)


def objective(fitted, X, y, weights):
    """Of a linear machine without an intercept, exactly."""
    parameter = getattr(fitted, "quantile" if fitted.loss == "quantile" else "epsilon", 0) or 0
    w = [Fraction(x) for x in np.ravel(fitted.coef_).tolist()]
    total = sum(x * x for x in w) / 2
    for row, target, weight in zip(X.tolist(), y.tolist(), weights.tolist(), strict=True):
        z = sum(Fraction(a) * b for a, b in zip(row, w, strict=True))
        loss = loss_of(fitted.loss, z, Fraction(target), Fraction(parameter))
        total += Fraction(fitted.C) * Fraction(weight) * loss
    return total


def fit(machine, X, y, weights):
    """None where the fit is refused, as numbers overflowed on the way, which is told."""
    try:
        return machine.fit(X, y, sample_weight=weights)
    except ValueError as error:
        if "overflow" not in str(error):
            raise
        return None


def check(fitted, value):
    found = fitted.certificate_
    assert found.dual <= value
    assert not np.isfinite(found.primal) or found.primal >= value
    return found


@pytest.mark.parametrize("solver", ["auto", "sdca", "newton"])
@pytest.mark.parametrize("weight", SIZES)
@pytest.mark.parametrize("C", [1e10, 1e300])
@pytest.mark.parametrize("loss", ["log_loss", "squared_hinge"])
def test_weights_of_examples(loss, C, weight, solver):
    weights = np.full(3, weight)
    machine = LinearSVC(C=C, loss=loss, solver=solver, fit_intercept=False, random_state=0)
    if fit(machine, X, LABELS, weights):
        check(machine, objective(machine, X, LABELS, weights))


@pytest.mark.parametrize("solver", ["auto", "sdca", "sgd-s", "interior-point"])
@pytest.mark.parametrize(
    ("options", "rows", "y", "weight"),
    [
        ({"loss": "huber", "epsilon": 1e-200}, np.ones((3, 1)), np.array([1e-150, 2e-150, 4e-150]), 1.0),
        ({"loss": "squared_epsilon_insensitive", "epsilon": 0}, np.full((3, 1), 1e-300), np.full(3, 2.6e-162), 1.0),
        ({"loss": "quantile", "quantile": 1e-300}, X, np.array([1e-20, -1e-20, 3e-20]), 1.0),
        ({"epsilon": 0}, X, np.array([1.0, 2.0, -1.0]), 1e-310),
        ({"epsilon": 0}, X * 1e200, np.array([1.0, 2.0, -1.0]), 5e-324),
    ],
    ids=["huber", "squared", "quantile", "weights", "large rows"],
)
def test_losses(options, rows, y, weight, solver):
    if solver == "sgd-s" and options.get("loss", "").startswith("squared"):
        pytest.skip("its slopes have no bound")
    weights = np.full(3, weight)
    machine = LinearSVR(C=1e300, fit_intercept=False, solver=solver, random_state=0, max_iter=50, **options)
    if fit(machine, rows, y, weights):
        check(machine, objective(machine, rows, y, weights))


def test_a_kernel_machine_whose_objective_underflows():
    fitted = SVR(kernel="linear", C=1e-300, epsilon=0.0).fit(X, [1e-160, 2e-160, -1e-160])
    found = fitted.certificate_
    assert found.primal > 0  # the optimum is near 1e-460, and not 0
    assert not found.converged


def test_a_kernel_machine_whose_costs_underflow():
    machines = [SVR(C=1e-300, loss="quantile", quantile=1e-300), SVC(C=1e-300), LinearSVC(C=1e-300)]
    for machine in machines:
        found = machine.fit(X, [1.0, 2.0, 1.0], sample_weight=np.full(3, 1e-300)).certificate_
        assert found.primal > 0
        assert not found.converged


def test_a_kernel_machine_whose_slopes_underflow():
    y = np.array([1e-310, 2e-310, 3e-310])
    options = {"gamma": 1.0, "loss": "quantile", "quantile": 1e-10, "C": 1e300, "fit_intercept": False}
    fitted = SVR(solver="sdca", random_state=0, **options).fit(X, y)
    beta = np.zeros(3, np.longdouble)
    beta[fitted.support_] = np.ravel(fitted.dual_coef_)
    kernel = np.exp(-cdist(X, X, "sqeuclidean").astype(np.longdouble))
    error = y - kernel @ beta
    losses = np.where(error > 0, np.longdouble(1e-10), np.longdouble(1e-10) - 1) * error
    check(fitted, float(beta @ kernel @ beta / 2 + np.longdouble(1e300) * losses.sum()))


def test_targets_that_are_zero_still_have_a_gap_of_zero():
    for machine in (LinearSVR(), LinearSVR(loss="huber"), SVR(), LinearSVR(loss="squared_epsilon_insensitive")):
        found = machine.fit(X, np.zeros(3)).certificate_
        assert (found.primal, found.dual, found.gap) == (0, 0, 0)


def test_values_of_features_that_single_precision_does_not_hold():
    """They are the data that the bounds are of, and not what is left of them in single precision."""
    values = [0.1, 0.7, 0.3, 1.7e9, 1.7e9 + 20]
    y = [["a"], ["b"], ["a"], ["b"], ["a"]]
    named = SequenceSVC(C=1.0, tol=1e-6, random_state=0, max_iter=50)
    named.fit([[{"x": value}] for value in values], y)
    plain = SequenceSVC(C=1.0, tol=1e-6, random_state=0, max_iter=50)
    plain.fit([np.array([[value]]) for value in values], y)
    assert named.certificate_.primal == plain.certificate_.primal
    assert named.certificate_.dual == plain.certificate_.dual
