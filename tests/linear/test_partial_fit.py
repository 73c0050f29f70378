"""`partial_fit`: streams behind scikit-learn's conventions."""

import copy
import pickle

import numpy as np
import pytest
from linear_helpers import assert_same
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification, make_regression
from sklearn.utils.estimator_checks import parametrize_with_checks

from pegasos import LinearSVC, LinearSVCCV, LinearSVR
from pegasos.io import write_dataset
from pegasos.reference.stream import adagrad_stream, pegasos_stream
from pegasos.solvers import SDCA, AdaGrad, Pegasos

ALPHA = 0.01
X, y = make_classification(300, 8, random_state=0)
X3, y3 = make_blobs(300, centers=3, random_state=1)
XR, yr = make_regression(300, 5, noise=1.0, random_state=0)
LOSSES = ["hinge", "squared_hinge", "log_loss"]


def parts(*arrays, size=70):
    """The arrays, some rows at a time."""
    for start in range(0, arrays[0].shape[0], size):
        yield tuple(array[start : start + size] for array in arrays)


def learn(machine, X, y, **first):
    for X_part, y_part in parts(X, y):
        machine.partial_fit(X_part, y_part, **first)
        first = {}
    return machine


def test_columns_far_from_zero_are_warned_of_once():
    clf = LinearSVC(alpha=ALPHA, random_state=0)
    clf.partial_fit(X[:29] + 1000, y[:29], classes=[0, 1])  # too few to tell
    with pytest.warns(
        UserWarning, match=r"learns little .* Column 0 and 7 more are .*StandardScaler\), whose"
    ) as warned:
        clf.partial_fit(X[29:60] + 1000, y[29:60])
    assert warned[0].filename == __file__
    clf.partial_fit(X[60:] + 1000, y[60:])
    with pytest.warns(UserWarning, match="LinearSVR.partial_fit learns little"):
        LinearSVR(solver="adagrad").partial_fit(XR + 100, yr)


def test_a_data_set_is_learned_from_in_pieces(tmp_path):
    dataset = write_dataset(tmp_path / "a.ds", X, y)
    with pytest.raises(TypeError, match=r"X\[:1000\], y\[:1000\], classes=dataset.labels.values\); or use fit"):
        LinearSVC(alpha=ALPHA).partial_fit(dataset)
    with pytest.raises(TypeError, match=r"y\[:1000\]\); or use fit"):
        LinearSVR(alpha=ALPHA).partial_fit(dataset)
    with pytest.raises(ValueError, match="requires y to be passed"):
        LinearSVC(alpha=ALPHA).partial_fit(X, classes=[0, 1])
    pieces = learn(LinearSVC(alpha=ALPHA, random_state=0), dataset.X, dataset.y, classes=dataset.labels.values)
    whole = learn(LinearSVC(alpha=ALPHA, random_state=0), X, y, classes=[0, 1])
    assert_same(pieces.coef_, whole.coef_)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("average", [False, True, "suffix"])
def test_one_row_at_a_time_is_the_twin(loss, average):
    """Calls of one row have no order to draw."""
    clf = LinearSVC(alpha=ALPHA, loss=loss, solver=Pegasos(average=average), intercept_scaling=2.0)
    signs = np.where(y == 1, 1.0, -1.0)
    rows = np.column_stack([X, np.full(len(y), 2.0)])
    steps = list(pegasos_stream(loss, rows, signs, ALPHA, np.arange(60)))
    for k in range(60):
        clf.partial_fit(X[[k]], y[[k]], classes=[0, 1])
    iterates = np.array([step.w for step in steps])
    w = {False: iterates[-1], True: iterates[:-1].mean(axis=0), "suffix": iterates[16:-1].mean(axis=0)}[average]
    assert_same(np.append(clf.coef_[0], clf.intercept_ / 2), w, rtol=1e-9)
    told = clf.progressive_
    assert told == pytest.approx((steps[-1].loss / 60, steps[-1].errors / 60, 60, 60))
    assert clf.lower_bound_ == pytest.approx(steps[-1].bound)
    assert (clf.t_, clf.n_iter_, clf.scale_) == (60, 1, None)


def test_adagrad_is_the_twin():
    clf = LinearSVC(solver=AdaGrad(eta=0.25))
    rows, signs = np.column_stack([X, np.ones(len(y))]), np.where(y == 1, 1.0, -1.0)
    *_, w = adagrad_stream("hinge", rows, signs, 0.25, np.arange(60))
    for k in range(60):
        clf.partial_fit(X[[k]], y[[k]], classes=[0, 1])
    assert_same(np.append(clf.coef_[0], clf.intercept_), w, rtol=1e-9)
    assert not hasattr(clf, "lower_bound_")


@pytest.mark.parametrize("solver", ["auto", "pegasos", "adagrad", Pegasos(average=True, project=True)])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix, lambda X: X.astype(np.float32)])
def test_learns_and_tells(solver, convert):
    clf = LinearSVC(alpha=None if solver == "adagrad" else ALPHA, solver=solver, random_state=0)
    learn(clf, convert(X), y, classes=[0, 1])
    assert clf.score(convert(X), y) > 0.9
    assert 0 < clf.progressive_.error < 0.4
    assert clf.progressive_.n_rows == clf.progressive_.weight == len(y)
    again = learn(clone(clf), convert(X), y, classes=[0, 1])
    np.testing.assert_array_equal(again.coef_, clf.coef_)


def test_each_class_against_the_rest():
    labels = np.array(["a", "b", "c"])[y3]
    clf = learn(LinearSVC(alpha=ALPHA, random_state=0), X3, labels, classes=["c", "a", "b"])
    assert clf.classes_.tolist() == ["a", "b", "c"]
    assert clf.coef_.shape == (3, 2)
    assert clf.score(X3, labels) > 0.9
    losses, bounds = [], []
    for k, label in enumerate(clf.classes_):
        one = learn(LinearSVC(alpha=ALPHA, random_state=0), X3, labels == label, classes=[False, True])
        np.testing.assert_array_equal(one.coef_[0], clf.coef_[k])
        losses.append(one.progressive_.loss)
        bounds.append(one.lower_bound_)
    assert clf.progressive_.loss == pytest.approx(sum(losses))
    assert clf.lower_bound_ == pytest.approx(sum(bounds))
    assert clf.progressive_.error < 0.2


def test_progressive_error_of_several_classes():
    """By calls of one row: what the machine before predicted."""
    clf = LinearSVC(alpha=ALPHA, solver=Pegasos(average=False), random_state=0)
    wrong = 0
    for k in range(40):
        wrong += bool(clf.predict(X3[[k]])[0] != y3[k]) if k else y3[k] != 0
        clf.partial_fit(X3[[k]], y3[[k]], classes=[0, 1, 2])
    assert clf.progressive_.error == pytest.approx(wrong / 40)


def test_regression():
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile"):
        reg = learn(LinearSVR(alpha=1e-3, loss=loss, epsilon=float(loss == "huber"), random_state=0), XR, yr)
        for _ in range(5):
            learn(reg, XR, yr)
        assert reg.coef_.shape == (5,)
        assert reg.score(XR, yr) > 0.9
        assert reg.progressive_.n_rows == 6 * len(yr)
        assert 0 < reg.progressive_.error < np.var(yr)


def test_weights():
    """Weights are relative, rows without weight do not count, and class weights multiply."""
    s = np.random.default_rng(0).integers(0, 3, size=len(y)).astype(float)
    options = {"alpha": ALPHA, "random_state": 0}
    one = LinearSVC(**options).partial_fit(X, y, classes=[0, 1], sample_weight=s)
    other = LinearSVC(**options).partial_fit(X, y, classes=[0, 1], sample_weight=4 * s)
    assert_same(one.coef_, other.coef_)
    assert one.progressive_.loss == pytest.approx(other.progressive_.loss)
    assert one.progressive_.weight == s.sum()
    by_class = LinearSVC(**options, class_weight={1: 3}).partial_fit(X, y, classes=[0, 1])
    by_row = LinearSVC(**options).partial_fit(X, y, classes=[0, 1], sample_weight=np.where(y == 1, 3.0, 1.0))
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)
    assert (LinearSVC(**options).partial_fit(X, y, classes=[0, 1]).coef_ != by_row.coef_).any()


@pytest.mark.parametrize("solver", ["adagrad", Pegasos(project=True), Pegasos(average=False)])
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda clf: pickle.loads(pickle.dumps(clf))])
def test_copies_go_on_learning(solver, duplicate):
    alpha = None if solver == "adagrad" else ALPHA
    clf = learn(LinearSVC(alpha=alpha, solver=solver, random_state=0), X3[:150], y3[:150], classes=[0, 1, 2])
    other = duplicate(clf)
    np.testing.assert_array_equal(other.decision_function(X3), clf.decision_function(X3))
    for machine in (clf, other):
        learn(machine, X3[150:], y3[150:])
    assert_same(other.coef_, clf.coef_, rtol=1e-9)
    assert other.progressive_ == pytest.approx(clf.progressive_)
    assert not hasattr(clone(clf), "coef_")


def test_fit_and_partial_fit_do_not_mix():
    clf = LinearSVC(alpha=ALPHA, random_state=0).fit(X, y)
    clf.partial_fit(X[:20], y[:20], classes=[0, 1])
    fresh = LinearSVC(alpha=ALPHA, random_state=0).partial_fit(X[:20], y[:20], classes=[0, 1])
    np.testing.assert_array_equal(clf.coef_, fresh.coef_)
    kept = "a stream does not keep its examples"
    for name, message in {"certificate_": kept, "history_": kept, "nonsense": "no attribute 'nonsense'"}.items():
        assert not hasattr(clf, name)
        with pytest.raises(AttributeError, match=message):
            getattr(clf, name)
    assert clf.partial_fit(X[:20], y[:20]).t_ == 40
    clf.set_params(warm_start=True).fit(X, y)
    assert clf.certificate_.converged
    assert not hasattr(clf, "progressive_")
    assert clf.partial_fit(X[:20], y[:20]).t_ == 20  # with the classes of the fit
    with pytest.raises(AttributeError, match="has no predict_proba"):
        clf.predict_proba(X)
    assert not hasattr(LinearSVC(), "certificate_")
    assert not hasattr(LinearSVCCV(), "partial_fit")


def test_alpha_states_the_problem():
    for machine in (LinearSVC(), LinearSVR(C=3.0), LinearSVC(solver=Pegasos())):
        assert not hasattr(machine, "partial_fit")
        with pytest.raises(AttributeError, match=r"n of a stream is not known; pass alpha = 1 / \(C n\)"):
            machine.partial_fit(X, y)
    assert hasattr(LinearSVC(solver="adagrad"), "partial_fit")
    assert hasattr(LinearSVR(alpha=0.1), "partial_fit")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"intercept": "free"},
            "pegasos does not support intercept='free' with a stream; it supports 'penalized'; use fit",
        ),
        ({"class_weight": "balanced"}, "class_weight='balanced' is not supported for partial_fit"),
        ({"multi_class": "joint"}, "multi_class='joint' is not supported for a stream"),
        ({"scale": True}, "scale=True is not supported for a stream"),
        ({"checkpoint": "c"}, "checkpoint='c' is not supported for a stream"),
        ({"early_stopping": True}, "pegasos does not support early_stopping=True with a stream"),
        ({"solver": "sdca"}, "solver='sdca': it is for fit of LinearSVC"),
        ({"solver": SDCA()}, "must be 'auto', 'pegasos', 'adagrad'"),
        ({"solver": Pegasos(batch_size=2)}, "pegasos does not support batch_size=2 with a stream; it supports 1"),
        ({"solver": Pegasos(sampling="replace")}, "pegasos does not support sampling='replace' with a stream"),
        ({"solver": AdaGrad(eta=-1)}, "eta=-1: must be"),
        ({"solver": AdaGrad()}, "alpha=0.01: AdaGrad minimises the loss alone"),
        ({"loss": "hinges"}, "loss='hinges': must be"),
    ],
)
def test_what_a_stream_is_not(options, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        LinearSVC(**{"alpha": ALPHA, **options}).partial_fit(X, y, classes=[0, 1])


def test_adagrad_does_not_fit():
    with pytest.raises(ValueError, match="must be 'auto', 'sdca'"):
        LinearSVC(solver=AdaGrad()).fit(X, y)


def test_classes_and_columns_must_stay():
    clf = LinearSVC(alpha=ALPHA)
    with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
        clf.partial_fit(X, y)
    with pytest.raises(ValueError, match="two classes or more"):
        clf.partial_fit(X, y, classes=[1])
    with pytest.raises(ValueError, match=r"y\[\d+\]=.*1.* is none of the classes \[0, 2\]"):
        clf.partial_fit(X, y, classes=[0, 2])
    assert not hasattr(clf, "coef_")
    clf.partial_fit(X, y, classes=[1, 0])
    clf.partial_fit(X[:1], y[:1], classes=[0, 1])
    with pytest.raises(ValueError, match="is not the same as on the first call to partial_fit"):
        clf.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"y\[0\]=.*7.* is none of the classes"):
        clf.partial_fit(X[:1], [7])
    with pytest.raises(ValueError, match="expecting 8 features"):
        clf.partial_fit(X[:, :3], y)
    with pytest.raises(ValueError, match="y to be passed"):
        clf.partial_fit(X, None)
    with pytest.raises(ValueError, match="changed since the first call"):
        clf.set_params(alpha=1.0).partial_fit(X, y)
    with pytest.raises(ValueError, match="row 0, column 2"):
        LinearSVC(alpha=1.0).partial_fit([[0.0, 1.0, np.nan]], [1], classes=[0, 1])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:.*with a penalised intercept:UserWarning")  # their data are around 100
@parametrize_with_checks([LinearSVC(alpha=ALPHA), LinearSVR(alpha=ALPHA)])
def test_scikit_learn_check(estimator, check):
    """With `alpha`, so that there is a `partial_fit` to check."""
    check(estimator)
