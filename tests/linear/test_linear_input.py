"""Bad input: each error names the value, and says what to do."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from pegasos import SVC, SVR, LinearSVC, LinearSVCCV, LinearSVR
from pegasos.solvers import AdaGrad, ConstantStep, Norma, Pegasos

random = np.random.default_rng(0)
X = random.normal(size=(20, 3))
Y = np.where(X[:, 0] > 0, 1, -1)


def svc(**options):
    return LinearSVC(**({"tol": 0, "max_iter": 3} | options))


def refuses(X, y=Y, s=None, *, parts, error=ValueError, **options):
    """The fit is refused in these words, and leaves no half-fitted model."""
    clf = svc(**options)
    with pytest.raises(error, match="(?s)" + ".*".join(map(re.escape, parts))):
        clf.fit(X, y, s)
    assert not hasattr(clf, "coef_")


def changed(array, at, value):
    array = array.copy()
    array[at] = value
    return array


@pytest.mark.parametrize("store", [np.asarray, np.asfortranarray, np.float32, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize(
    ("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")], ids=["nan", "inf", "-inf"]
)
def test_not_finite(store, value, name):
    wrong = store(changed(X, (4, 1), value))
    refuses(wrong, parts=[f"contains {name}: row 4, column 1", "SimpleImputer"])
    clf = svc().fit(X, Y)
    with pytest.raises(ValueError, match=rf"contains {name}: row 4, column 1.*SimpleImputer"):
        clf.predict(wrong)


def test_too_large():
    refuses(changed(X, (4, 1), 1e200), parts=["so large in row 4", "scale the features"])


@pytest.mark.parametrize("label", [7, "spam", 1.0, True])
def test_one_class(label):
    refuses(X, [label] * 20, parts=["one class only", repr(label), "two classes"])


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_not_classes():
    refuses(X, X[:, 0], parts=["Unknown label type: continuous"])


def test_lengths():
    refuses(X, Y[:5], parts=["[20, 5]"])
    refuses(X, Y, np.ones(7), parts=["(7,)", "(20,)", "give one weight for each row"])
    refuses(X, Y, np.ones((20, 2)), parts=["(20, 2)", "(20,)", "give one weight for each row"])
    refuses(X, np.column_stack([Y, Y]), parts=["1d array", "(20, 2)"])


def test_bad_labels():
    refuses(X, None, parts=["requires y to be passed", "fit(X, y)"])
    refuses(X, C="auto", parts=["C='auto': must be a finite number above 0"])
    refuses(X, changed(Y.astype(float), 3, np.nan), parts=["y contains NaN", "no label for example 4"])


def missing_labels():
    texts, numbers = ["x", "y", None, "x"], [0, 1, None, 1]
    yield from (texts, numbers, np.array(texts, dtype=object), pd.Series(["x", "y", np.nan, "x"]))
    yield from (pd.Series(texts, dtype="string"), pd.Series(texts, dtype="category"), pd.Series(numbers, dtype="Int64"))


def test_an_example_without_a_label_is_named():
    for y in missing_labels():
        for model in (LinearSVC(), SVC()):
            with pytest.raises(ValueError, match=r"no label for example 3.*give each example a label, or drop it"):
                model.fit(X[:4], y)
    for regressor in (LinearSVR(), SVR()):
        with pytest.raises(ValueError, match="no target for example 3"):
            regressor.fit(X[:4], [0, 1, None, 1])


@pytest.mark.parametrize("regressor", [LinearSVR(), SVR()])
def test_targets_that_are_no_numbers(regressor):
    who = type(regressor).__name__
    for y, wrong in (
        (["a", "b", "c", "d"], "y[0], 'a'"),
        ([1, 2, "x", 4], "y[2], 'x'"),
        (["1", "2", "nan", "4"], "y[2]"),
    ):
        with pytest.raises(
            ValueError, match=f"{re.escape(wrong)}.*targets of {who} are finite numbers; for labels use"
        ):
            regressor.fit(X[:4], y)


def test_a_long_text_in_a_frame_is_cut():
    frame = pd.DataFrame({"a": np.arange(20.0), "mail": ["From: " + "words " * 100] * 20})
    with pytest.raises(ValueError, match=r"could not convert.* in column mail; .*TfidfVectorizer") as caught:
        LinearSVC().fit(frame, Y)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("store", [np.asarray, sp.csr_matrix])
def test_empty(store):
    refuses(store(X[:0]), Y[:0], parts=["0 sample(s)", "(0, 3)"])
    refuses(store(X[:, :0]), parts=["0 feature(s)", "(20, 0)"])


def test_shapes():
    refuses(X[:, 0], parts=["Expected 2D array, got 1D", "reshape(-1, 1)"])
    refuses(X[None], parts=["dim 3"])


@pytest.mark.parametrize("store", [np.asarray, sp.csr_matrix])
def test_complex(store):
    refuses(store(X + 1j), parts=["Complex data not supported"])
    with pytest.raises(ValueError, match="Complex data not supported"):
        svc().fit(X, Y).predict(store(X + 1j))


@pytest.mark.parametrize(
    "text",
    [
        np.array([["red", "green", "blue"]] * 20),
        np.array([["red", 1, 2]] * 20, dtype=object),
        [["red", 1, 2]] * 20,
    ],
    ids=["str", "object", "list"],
)
def test_text(text):
    refuses(text, parts=["could not convert string to float: 'red' in column 0", "OneHotEncoder"])
    with pytest.raises(ValueError, match=r"red.*OneHotEncoder"):
        svc().fit(X, Y).predict(text)


def test_texts_without_columns():
    refuses(["red car", "blue bike"] * 10, parts=["could not convert string to float: 'red car'", "TfidfVectorizer"])


@pytest.mark.parametrize(
    "column",
    [["red"] * 20, pd.Categorical(["red", "blue"] * 10), pd.array(["red"] * 20, dtype="string")],
    ids=["object", "category", "string"],
)
def test_text_columns_are_named(column):
    frame = pd.DataFrame({"size": X[:, 0], "colour": column, "weight": X[:, 1]})
    refuses(frame, parts=["'red' in column colour", "OneHotEncoder"])


def test_dates():
    frame = pd.DataFrame({"size": X[:, 0], "day": pd.date_range("2020-01-01", periods=20)})
    refuses(frame, parts=["X has dates or times in column day", "make numbers of them"])


def test_arrays_of_dates_masked_entries_and_images():
    dates = np.arange(8).reshape(4, 2).astype("datetime64[D]")
    masked = np.ma.masked_array(np.ones((4, 2)), mask=[[0, 1]] * 4)
    for X, words in (
        (dates, "X has dates or times; make numbers of them"),
        (masked, "X has masked entries, which are missing values; fill them"),
        (np.ones((4, 2, 3)), "Found array with dim 3"),
    ):
        with pytest.raises(ValueError, match=words):
            LinearSVC().fit(X, [0, 1, 0, 1])
    LinearSVC().fit(np.ma.masked_array(np.eye(4)), [0, 1, 0, 1])


@pytest.mark.parametrize("store", [np.asarray, sp.csr_matrix])
def test_other_features_at_predict(store):
    clf = svc().fit(store(X), Y)
    for method in (clf.predict, clf.decision_function):
        with pytest.raises(ValueError, match=r"X has 2 features.*expecting 3"):
            method(store(X[:, :2]))


def test_unfitted():
    for method in ("predict", "decision_function"):
        with pytest.raises(NotFittedError, match=r"not fitted yet.*Call 'fit'"):
            getattr(svc(), method)(X)


@pytest.mark.parametrize(
    ("array", "at", "value"),
    [
        ("indices", 4, 3),
        ("indices", 4, 10**9),
        ("indices", 4, -1),
        ("indptr", 3, 1),
        ("indptr", 20, 1000),
        ("indptr", 0, -3),
    ],
)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_broken_csr(array, at, value, dtype):
    broken = sp.csr_matrix(X)
    broken.indices, broken.indptr = broken.indices.astype(dtype), broken.indptr.astype(dtype)
    getattr(broken, array)[at] = value
    row = {4: 1, 3: 2, 20: 19, 0: 0}[at]
    refuses(broken, parts=[f"broken CSR matrix: row {row}", "check_format"])


def test_csr_with_columns_twice_and_out_of_order_is_summed():
    twice = sp.csr_matrix((np.ones(40), np.tile([2, 0], 20), np.arange(0, 41, 2)), shape=(20, 3))
    twice.indices[:2] = 1
    dense = svc(random_state=0).fit(twice.toarray(), Y)
    np.testing.assert_allclose(svc(random_state=0).fit(twice, Y).coef_, dense.coef_, rtol=1e-9)


@pytest.mark.parametrize("value", [-2.5, np.nan, np.inf])
def test_sample_weights(value):
    refuses(X, Y, changed(np.ones(20), 3, value), parts=[f"sample_weight[3]={value}", "drop the example"])


def test_sums_of_weights():
    refuses(X, Y, np.zeros(20), parts=["eights"])
    refuses(X, Y, np.full(20, 1e308), parts=["sum to inf", "finite"])
    refuses(
        X,
        Y,
        class_weight={-1: 0, 1: 0},
        parts=["all samples have zero or negative weights; give some a weight above 0"],
    )


def test_class_weights():
    refuses(X, class_weight={1: -1.0}, parts=["class_weight={1: -1.0}", "not negative"])
    refuses(X, class_weight={1: np.nan}, parts=["class_weight={1: nan}", "finite"])
    refuses(X, class_weight={5: 1.0}, parts=["class_weight has 5", "[-1, 1]"])
    refuses(X, class_weight="balance", parts=["class_weight='balance'", "'balanced' or None"])


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        *(("C", value, "a finite number above 0") for value in (0, -1.0, np.nan, np.inf, "1", None, True, [1])),
        *(("alpha", value, "above 0 or None") for value in (0, -1e-3, np.nan, "auto")),
        *(("tol", value, "at least 0") for value in (-1e-9, np.inf, None)),
        *(("max_iter", value, "an integer of at least 1") for value in (0, -2, 2.5, None, True)),
        *(("max_time", value, "above 0 or None") for value in (0, -1, np.nan)),
        *(("intercept_scaling", value, "above 0") for value in (0, -1)),
        *((flag, value, "True or False") for flag in ("fit_intercept", "warm_start") for value in ("yes", 1, None)),
        ("loss", "log", "'hinge'"),
    ],
)
def test_parameters(name, value, wanted):
    refuses(X, **{name: value}, parts=[f"{name}={value!r}: must be", wanted])


@pytest.mark.parametrize("solver", ["sgd", "Pegasos", ""])
def test_unknown_solver(solver):
    refuses(
        X,
        solver=solver,
        parts=[f"solver={solver!r}", "'auto', 'sdca', 'sgd-s', 'sgd-m', 'sgd-r', 'pegasos'", "pegasos.solvers"],
    )


@pytest.mark.parametrize(
    ("solver", "whose"),
    [
        ("adagrad", "partial_fit of LinearSVC and LinearSVR (on the command line --one-pass)"),
        (AdaGrad(), "partial_fit of LinearSVC and LinearSVR (on the command line --one-pass)"),
        ("smo", "SVC and SVR"),
        ("frank-wolfe", "SequenceSVC"),
    ],
    ids=str,
)
def test_solvers_of_other_estimators(solver, whose):
    refuses(X, solver=solver, parts=[f"solver={solver!r}: it is for {whose}; here it must be 'auto', 'sdca'"])


@pytest.mark.parametrize("solver", [3, None, Pegasos, LinearSVC()], ids=str)
def test_not_a_solver(solver):
    refuses(X, solver=solver, parts=["solver=", "name of a solver or an object from pegasos.solvers", "SDCA()"])


@pytest.mark.parametrize("solver", [Pegasos, Norma, ConstantStep])
def test_batches_larger_than_the_data(solver):
    refuses(X, solver=solver(batch_size=21), parts=["batch_size=21", "20 examples", "lower"])
    svc(solver=solver(batch_size=20)).fit(X, Y)


def test_steps_that_would_turn_the_weights_round():
    refuses(X, alpha=0.1, solver=ConstantStep(eta=10), parts=["eta=10", "1/alpha=10", "smaller"])


def test_unknown_parameter():
    with pytest.raises(TypeError, match=r"LinearSVC has no parameter 'Cost'; did you mean 'cost'\?"):
        LinearSVC(Cost=1)
    with pytest.raises(ValueError, match=r"LinearSVC has no parameter 'c'; did you mean 'C'\?"):
        LinearSVC().set_params(c=1)


@pytest.mark.parametrize(
    ("name", "slip", "meant"),
    [("loss", "squaredhinge", "squared_hinge"), ("solver", "SDCA", "sdca"), ("solver", "sgd_r", "sgd-r")],
)
def test_slips(name, slip, meant):
    refuses(X, **{name: slip}, parts=[f"{name}='{slip}': must be", f"; did you mean '{meant}'?"])


def test_no_end():
    refuses(X, max_iter=-1, parts=["tol=0 runs the whole budget", "set max_iter, max_time or tol"])


def test_numbers_that_overflow():
    with pytest.raises(ValueError, match=r"the numbers overflowed: C=1e\+308"):
        LinearSVC(C=1e308, solver="pegasos").fit(X, Y)


@pytest.mark.parametrize("solver", ["svm-sgd", "sgd-qn", "norm-ball", "constant-step"])
class TestAlphaThatIsNoNumber:
    def test_c_and_weights_that_underflow(self, solver):
        small = [[1e-200], [2e-200], [-1e-200]]
        with pytest.raises(ValueError, match=r"C=1e-300 .* sum to 3e-300 .*too little together.*raise C, or scale"):
            LinearSVC(solver=solver, C=1e-300).fit(small, [0, 1, 1], sample_weight=[1e-300] * 3)

    def test_c_and_weights_that_overflow(self, solver):
        with pytest.raises(ValueError, match=r"C=1e\+300 .* sum to 3e\+10 .*too much together.*lower C, or scale"):
            LinearSVC(solver=solver, C=1e300).fit([[1.0], [2.0], [-1.0]], [0, 1, 1], sample_weight=[1e10] * 3)

    def test_alpha_and_weights(self, solver):
        with pytest.raises(ValueError, match=r"alpha=1e-300 .*too little together.*raise alpha, or scale"):
            LinearSVC(solver=solver, alpha=1e-300).fit([[1.0], [-1.0]], [0, 1], sample_weight=[1e-300] * 2)
        with pytest.raises(ValueError, match=r"C=0 .*too little together"):
            LinearSVC(solver=solver, alpha=1e300).fit([[1.0], [-1.0]], [0, 1], sample_weight=[1e300] * 2)


def test_the_sample_of_a_stop_has_a_size_for_every_c():
    solver = Pegasos(random_stops=2, average=False, stop_evaluation="sample")
    with pytest.raises(ValueError, match="the numbers overflowed"):
        LinearSVC(C=1e300, tol=1e-12, solver=solver).fit([[1.0], [2.0], [-1.0]], [0, 1, 1])


def test_broken_csr_is_refused_by_predict_too():
    model = svc().fit(sp.csr_matrix(X), Y)
    broken = sp.csr_matrix(X)
    broken.indices = np.full_like(broken.indices, 2 * 10**9)
    with pytest.raises(ValueError, match="broken CSR matrix: row 0"):
        model.predict(broken)


def test_strided_arrays_of_a_sparse_matrix():
    expected = svc(random_state=0).fit(sp.csr_matrix(X), Y).coef_
    odd = sp.csr_matrix(X)
    odd.data = np.repeat(odd.data, 2)[::2]
    np.testing.assert_array_equal(svc(random_state=0).fit(odd, Y).coef_, expected)


def test_random_start_without_intercept_is_in_the_weights():
    model = LinearSVC(
        fit_intercept=False, tol=0, solver=Pegasos(start="random", average=True, max_steps=1), random_state=0
    ).fit(X, Y)
    w = model.coef_[0]
    y = np.where(model.classes_[1] == Y, 1, -1)
    np.testing.assert_allclose(model.certificate_.primal, w @ w / 2 + np.maximum(0, 1 - y * (X @ w)).sum(), rtol=1e-12)


STOPPED = LinearSVC(alpha=0.1, early_stopping=True, solver="pegasos")


@pytest.mark.parametrize("model", [LinearSVC(), SVC(), LinearSVCCV(Cs=2, cv=2), STOPPED], ids=str)
def test_columns_of_frames_by_name(model):
    model = clone(model)
    frame = pd.DataFrame(X, columns=["age", "pay", "size"])
    wrong = frame.assign(pay=changed(X[:, 1], 3, np.nan))
    message = "contains NaN: row 3, column 'pay'"
    with pytest.raises(ValueError, match=message) as refused:
        model.fit(wrong, Y)
    assert message in str(pickle.loads(pickle.dumps(refused.value)))
    assert not hasattr(model, "feature_names_in_")
    model.fit(frame, Y)
    for predict in (model.predict, model.decision_function):
        with pytest.raises(ValueError, match=message):
            predict(wrong)
    with pytest.raises(ValueError, match="X has dates or times in column day; make numbers"):
        model.fit(frame.assign(day=pd.Timestamp("2020-01-01")), Y)


@pytest.mark.parametrize("machine", [LinearSVC, SVC, LinearSVCCV])
@pytest.mark.parametrize("y", [[1, "a"] * 10, np.array(["a", 1] * 10, dtype=object), (np.str_("a"), 1) * 10])
def test_labels_of_mixed_types(machine, y):
    """Also in a list, of which NumPy would make strings."""
    with pytest.raises(
        ValueError, match=r"labels are of mixed types: .*make all of them strings, or all whole numbers"
    ):
        machine().fit(np.arange(20.0)[:, None], y)


@pytest.mark.parametrize("y", [[2**70, 1], [frozenset([1]), frozenset([2])], np.array([True, 2], dtype=object)])
def test_labels_that_are_objects(y):
    with pytest.raises(
        ValueError, match=r"y holds objects, such as (1180|frozenset|True).*labels are strings, or whole"
    ):
        LinearSVC().fit([[0.0], [1.0]], y)


@pytest.mark.parametrize("y", [["a\0", "a", "b", "b"], np.array(["a\0", "a", "b", "b"], dtype=object)])
@pytest.mark.parametrize("machine", [LinearSVC(), SVC(), LinearSVCCV(cv=2)])
def test_labels_that_end_in_nul(machine, y):
    """NumPy drops it from arrays of strings, and two classes would become one."""
    with pytest.raises(ValueError, match=r"y holds the label 'a\\x00', which an array cannot hold; name it otherwise"):
        machine.fit(np.arange(4.0)[:, None], y)


@pytest.mark.parametrize("machine", [LinearSVC(), LinearSVR(), SVC(), SVR(), LinearSVCCV(cv=2)])
def test_masked_targets_and_weights(machine):
    X, y, weights = np.arange(8.0)[:, None], np.arange(8) % 2, np.ones(8)
    wrong = [np.ma.masked_array(values, mask=[1, *[0] * 7]) for values in (y, weights)]
    with pytest.raises(ValueError, match="y has masked entries, which are missing values; give every example"):
        machine.fit(X, wrong[0])
    with pytest.raises(ValueError, match="sample_weight has masked entries, which are missing values; give every"):
        machine.fit(X, y, sample_weight=wrong[1])
    machine.fit(X, np.ma.masked_array(y), sample_weight=np.ma.masked_array(weights))
    for name, given in (("y", (wrong[0],)), ("sample_weight", (y, wrong[1]))):
        with pytest.raises(ValueError, match=f"{name} has masked entries"):
            machine.score(X, *given)


def test_sparse_arrays_of_one_dimension():
    model = LinearSVC().fit([[0.0], [1.0]], [0, 1])
    for use in (lambda row: LinearSVC().fit(row, [0, 1]), SVC().fit([[0.0], [1.0]], [0, 1]).predict, model.predict):
        with pytest.raises(ValueError, match=r"Expected 2D input, got X with shape \(2,\); it needs two dimensions"):
            use(sp.coo_array(np.array([1.0, 2.0])))


def test_zeros_that_are_stored_count_as_entries():
    X = sp.random(60, 40, density=0.2, random_state=0, format="bsr")
    blocks, y = sp.bsr_matrix(X.toarray(), blocksize=(2, 2)), np.arange(60) % 2
    fits = [LinearSVC(random_state=0).fit(X, y).coef_ for X in (blocks, blocks.tocsr())]
    np.testing.assert_array_equal(fits[0], fits[1])
    dropped = blocks.tocsr()
    dropped.eliminate_zeros()
    np.testing.assert_array_equal(
        LinearSVC(random_state=0).fit(dropped, y).coef_, LinearSVC(random_state=0).fit(sp.csr_matrix(X), y).coef_
    )


@pytest.mark.parametrize("weights", [["a"] * 4, np.array(["a"] * 4), [1j] * 4])
def test_weights_that_are_no_numbers(weights):
    with pytest.raises(ValueError, match=r"sample_weight\[0\]=.*: weights must be numbers; give one for each row of X"):
        LinearSVC().fit(np.arange(4.0)[:, None], [0, 0, 1, 1], sample_weight=weights)


@pytest.mark.parametrize("intercept", ["penalized", "free"])
def test_one_huge_weight(intercept):
    """Where the exact method gets stuck, and not by rounding of the bounds, coordinate ascent goes on."""
    rows, y = make_classification(80, 5, random_state=0)
    weights = np.where(np.arange(80) == 3, 1e12, 1.0)
    reg = LinearSVR(intercept=intercept, random_state=0).fit(rows, y + 0.5, sample_weight=weights)
    assert reg.certificate_.converged
