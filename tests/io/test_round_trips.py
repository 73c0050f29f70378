"""Models of every estimator, however they were trained, come back from their files as they were."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import pegasos
from pegasos import SVC, SVR, FeatureMapSVC, LinearSVC, LinearSVCCV, LinearSVR, SequenceSVC
from pegasos.base.options import Integer, Number, NumberOrName
from pegasos.io import load_model, open_dataset, save_model, write_dataset
from pegasos.solvers import KERNEL_SOLVERS, SEQUENCE_SOLVERS, SOLVERS, STREAM_SOLVERS, AdaGrad, Newton, Pegasos

#: Short fits; how good they are is not the question.
BUDGET = {"tol": 0.1, "max_iter": 3, "random_state": 0}


def make_data(n_classes, n=240, d=5, seed=0):
    """Examples with labels, or without classes with targets."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    scores = X @ random.normal(size=(d, max(n_classes, 1))) + 0.3 * random.normal(size=(n, max(n_classes, 1)))
    return X, scores.argmax(axis=1) if n_classes else scores[:, 0]


def comes_back(model, X, path, score="decision_function"):
    """Save, load and compare what is predicted and what is known; the loaded model."""
    save_model(model, path)
    loaded = load_model(path)
    says_the_same(loaded, model, X, {score, "predict"})
    kept = model.best_estimator_ if isinstance(model, LinearSVCCV) else model
    assert repr(loaded.get_params()) == repr(kept.get_params())
    assert getattr(loaded, "certificate_", None) == getattr(kept, "certificate_", None)
    assert loaded.n_features_in_ == kept.n_features_in_
    save_model(loaded, path)  # and again
    says_the_same(load_model(path), model, X, {score})
    return loaded


def says_the_same(loaded, model, X, methods):
    for method in methods:
        for one, other in zip(getattr(loaded, method)(X), getattr(model, method)(X), strict=True):
            np.testing.assert_array_equal(one, other)  # one by one, as sequences differ in length


def fit(model, *data, method="fit", **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return getattr(model, method)(*data, **more)


def refusal(model):
    """Why the parameters do not go together; empty where they do."""
    try:
        model.check_stream_parameters() if "_streams" in vars(model) else model.check_parameters()
    except ValueError as error:
        return str(error)
    return ""


LINEAR = [(LinearSVC, {}, 2), (LinearSVC, {}, 3), (LinearSVC, {"multi_class": "joint"}, 2)]
LINEAR += [(LinearSVC, {"multi_class": "joint"}, 3), (LinearSVR, {}, 0)]
LINEAR += [(LinearSVC, {"loss": "log_loss"}, 2), (LinearSVR, {"loss": "huber", "epsilon": 1.0}, 0)]


def score_of(estimator):
    return "predict" if issubclass(estimator, LinearSVR | SVR) else "decision_function"


@pytest.mark.parametrize("warm_start", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("estimator", "options", "n_classes"), LINEAR)
def test_linear(tmp_path, estimator, options, n_classes, solver, warm_start):
    X, y = make_data(n_classes)
    model = estimator(solver=solver, warm_start=warm_start, **BUDGET, **options)
    if solver == "sgd-r":
        model.set_params(solver=SOLVERS[solver](max_steps=500))
    if refusal(model):
        assert "support" in refusal(model)  # this solver does not have it
        return
    for _ in range(1 + warm_start):
        fit(model, X, y)
    loaded = comes_back(model, X, tmp_path / "m", score_of(estimator))
    fit(loaded, X, y)  # it goes on, or starts anew


@pytest.mark.parametrize("scale", [None, "auto"])
@pytest.mark.parametrize("intercept", ["penalized", "free"])
@pytest.mark.parametrize(("estimator", "n_classes"), [(LinearSVC, 2), (LinearSVC, 3), (LinearSVR, 0)])
def test_intercepts_and_scales(tmp_path, estimator, n_classes, intercept, scale):
    X, y = make_data(n_classes)
    model = fit(estimator(intercept=intercept, scale=scale, **BUDGET), sp.csr_matrix(X), y)
    comes_back(model, X, tmp_path / "m", score_of(estimator))


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("solver", ["auto", "sdca", "pegasos"])
@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize(("estimator", "n_classes"), [(LinearSVC, 2), (LinearSVC, 3), (LinearSVR, 0)])
def test_data_sets_on_disk(tmp_path, monkeypatch, estimator, n_classes, in_memory, solver, words):
    monkeypatch.setattr("pegasos.linear.out_of_core.machine.fits_in_memory", lambda *_: in_memory)
    X, y = make_data(n_classes)
    if words and n_classes:
        y = np.array(["no", "yes", "maybe"])[y]
    write_dataset(tmp_path / "a.ds", X, y)
    model = fit(estimator(solver=solver, **BUDGET), open_dataset(tmp_path / "a.ds"))
    assert ("by blocks" in model.certificate_.solver) != in_memory
    comes_back(model, X, tmp_path / "m", score_of(estimator))


@pytest.mark.parametrize("solver", STREAM_SOLVERS)
@pytest.mark.parametrize(("estimator", "n_classes"), [(LinearSVC, 2), (LinearSVC, 3), (LinearSVR, 0)])
def test_streams(tmp_path, estimator, n_classes, solver):
    X, y = make_data(n_classes)
    model = estimator(solver=solver, alpha=None if solver == "adagrad" else 1e-3, random_state=0)
    for part in (slice(0, 100), slice(100, None)):
        model.partial_fit(X[part], y[part], **({"classes": np.unique(y)} if n_classes else {}))
    loaded = comes_back(model, X, tmp_path / "m", score_of(estimator))
    np.testing.assert_allclose(loaded.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_stream_after_a_fit_and_the_reverse(tmp_path, n_classes):
    X, y = make_data(n_classes)
    model = fit(LinearSVC(alpha=1e-3, **BUDGET), X, y)
    model.partial_fit(X, y)
    comes_back(model, X, tmp_path / "m")
    comes_back(fit(model, X, y), X, tmp_path / "m")


@pytest.mark.parametrize(("estimator", "n_classes"), [("LinearSVC", 2), ("LinearSVC", 3), ("LinearSVR", 0)])
def test_dask(tmp_path, estimator, n_classes):
    distributed = pytest.importorskip("distributed")
    import dask.array as da

    import pegasos.dask

    X, y = make_data(n_classes)
    with distributed.Client(n_workers=1, processes=False, dashboard_address=":0"):
        parts = da.from_array(X, chunks=(80, X.shape[1])), da.from_array(y, chunks=80)
        model = fit(getattr(pegasos.dask, estimator)(**BUDGET), *parts).to_local()
    comes_back(model, X, tmp_path / "m", score_of(type(model)))


def test_cross_validation(tmp_path):
    X, y = make_data(2)
    comes_back(fit(LinearSVCCV(Cs=3, cv=2, **BUDGET), X, y), X, tmp_path / "m")


@pytest.mark.parametrize("warm_start", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "precomputed"])
@pytest.mark.parametrize("solver", KERNEL_SOLVERS)
@pytest.mark.parametrize(
    ("estimator", "options", "n_classes"),
    [(SVC, {}, 2), (SVC, {}, 3), (SVC, {"multi_class": "ovr"}, 3), (SVR, {}, 0), (SVR, {"loss": "quantile"}, 0)],
)
def test_kernels(tmp_path, estimator, options, n_classes, solver, kernel, warm_start):
    X, y = make_data(n_classes, n=90)
    if kernel == "precomputed":
        X = X @ X.T
    model = estimator(kernel=kernel, solver=solver, warm_start=warm_start, **BUDGET, **options)
    if "fit_intercept=True" in refusal(model):
        model.fit_intercept = False
    if refusal(model):
        assert "support" in refusal(model)
        return
    for _ in range(1 + warm_start):
        fit(model, X, y)
    loaded = comes_back(model, X, tmp_path / "m", score_of(estimator))
    fit(loaded, X, y)


@pytest.mark.parametrize("hash_bits", [None, 10])
@pytest.mark.parametrize("warm_start", [False, True])
@pytest.mark.parametrize("solver", SEQUENCE_SOLVERS)
def test_sequences(tmp_path, solver, warm_start, hash_bits):
    X = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=dogs"], ["w=bark"]], [["w=a"]]]
    y = [["D", "N", "V"], ["N", "V"], ["D"]]
    model = SequenceSVC(solver=solver, warm_start=warm_start, hash_bits=hash_bits, **BUDGET)
    if refusal(model):
        assert "support" in refusal(model)
        return
    for _ in range(1 + warm_start):
        fit(model, X, y)
    fit(comes_back(model, X, tmp_path / "m"), X, y)


#: What someone may set a parameter to after a fit, by mistake or for the next one.
VALUES = (None, True, -1, 7, Fraction(1, 2), "nonsense", [1])


def values_for(estimator, name):
    own = estimator.options.get(name)
    return [
        *VALUES,
        *getattr(own, "values", ()),
        *(estimator.solvers if name == "solver" else ()),
        Pegasos(),
        AdaGrad(),
    ]


SENTENCES = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=dogs"], ["w=bark"]], [["w=a"]]]
TAGS = [["D", "N", "V"], ["N", "V"], ["D"]]

FITTED = {
    "two": lambda: fit(LinearSVC(**BUDGET), *make_data(2)),
    "ovr": lambda: fit(LinearSVC(class_weight={0: 2.0}, warm_start=True, **BUDGET), *make_data(3)),
    "joint": lambda: fit(
        LinearSVC(multi_class="joint", cost=[[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]], **BUDGET),
        *make_data(3),
    ),
    "log": lambda: fit(LinearSVC(loss="log_loss", solver=Newton(), **BUDGET), *make_data(3)),
    "regression": lambda: fit(LinearSVR(loss="quantile", quantile=0.9, **BUDGET), *make_data(0)),
    "cv": lambda: fit(LinearSVCCV(Cs=2, cv=2, **BUDGET), *make_data(2)).best_estimator_,
    "adagrad": lambda: LinearSVC(solver="adagrad").partial_fit(*make_data(3), classes=[0, 1, 2]),
    "stream": lambda: LinearSVR(alpha=0.1).partial_fit(*make_data(0)),
    "kernel": lambda: fit(SVC(**BUDGET), *make_data(2)),
    "pairs": lambda: fit(SVC(decision_function_shape="ovo", **BUDGET), *make_data(3)),
    "kernels": lambda: fit(SVC(multi_class="ovr", kernel="poly", **BUDGET), *make_data(3)),
    "precomputed": lambda: fit(SVR(kernel="precomputed", **BUDGET), np.eye(20), make_data(0, n=20)[1]),
    "sequences": lambda: fit(SequenceSVC(constraints=[("V", "D")], **BUDGET), SENTENCES, TAGS),
}


@pytest.mark.parametrize("kind", FITTED)
def test_what_was_fitted_is_saved(tmp_path, monkeypatch, kind):
    """Whatever parameter is set after the fit. Those of predictions, and of the next fit, are as set or refused."""
    monkeypatch.setattr("pegasos.io.atomic.sync", lambda *paths: None)  # which takes most of the time
    model, path = FITTED[kind](), tmp_path / "m"
    X = SENTENCES if kind == "sequences" else make_data(2, n=20)[0] if kind != "precomputed" else np.eye(20)
    before, decide = model.get_params(deep=False), score_of(type(model))
    for name in before:
        for value in values_for(type(model), name):
            model.set_params(**{name: value})
            live = name in ("break_ties", "decision_function_shape", "n_jobs", "warm_start")
            if live and refusal(model):
                with pytest.raises(ValueError, match=f"{name}="):
                    save_model(model, path)
                continue
            save_model(model, path)
            loaded = load_model(path)
            kept = loaded.get_params(deep=False)
            expected = before | {name: value} if live else before
            assert repr(kept) == repr(expected)
            if not live:
                says_the_same(loaded, model, X, {decide, "predict"})
        model.set_params(**{name: before[name]})
    comes_back(model, X, path, decide)


NUMBERS = {Fraction: np.int8, np.float16: np.uint8, np.float32: np.int64, np.longdouble: np.int16}


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("estimator", [LinearSVC, LinearSVR, LinearSVCCV, SVC, SVR, SequenceSVC])
def test_numbers_of_every_kind(tmp_path, estimator, number):
    """A fit with them is that with those of Python, whether it warns or not, and is saved."""

    def make(real, whole):
        values = {Number: real(0.5), NumberOrName: real(0.5), Integer: whole(3)}
        given = {name: values[type(one)] for name, one in estimator.options.items() if type(one) in values}
        for name in ("alpha", "max_time", "hash_bits"):
            given.pop(name, None)
        return estimator(**given, **({"loss": "quantile"} if "quantile" in given else {}), random_state=0)

    n_classes = 0 if estimator in (LinearSVR, SVR) else 2
    data = (SENTENCES, TAGS) if estimator is SequenceSVC else make_data(n_classes, n=60)
    model = make(number, NUMBERS[number])
    for tol in (0.5, 2.0**-14):
        plain = fit(make(float, int).set_params(tol=tol), *data)
        says_the_same(fit(model.set_params(tol=number(tol)), *data), plain, data[0], {score_of(estimator)})
        save_model(model, tmp_path / "m")
        assert load_model(tmp_path / "m").get_params() == getattr(plain, "best_estimator_", plain).get_params()


def test_an_option_of_the_solver_set_after_the_fit(tmp_path):
    model = fit(LinearSVC(solver=Pegasos(batch_size=2), **BUDGET), *make_data(2))
    save_model(model.set_params(solver__batch_size=-1), tmp_path / "m")
    assert load_model(tmp_path / "m").solver.batch_size == 2


def test_what_has_code_of_its_own_is_not_written(tmp_path):
    class Own(LinearSVC):
        pass

    class OwnSolver(Pegasos):
        pass

    with pytest.raises(TypeError, match=r"a Own of .* is no model of pegasos"):
        save_model(fit(Own(**BUDGET), *make_data(2)), tmp_path / "m")
    with pytest.raises(ValueError, match=r"solver=OwnSolver\(\): a solver of your own"):
        save_model(fit(LinearSVC(solver=OwnSolver(), **BUDGET), *make_data(2)), tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_a_model_that_was_loaded_is_what_it_was(tmp_path):
    for model in (FITTED["pairs"](), FITTED["adagrad"]()):
        save_model(model, tmp_path / "m")
        save_model(load_model(tmp_path / "m").set_params(C=-1), tmp_path / "m")
        assert load_model(tmp_path / "m").C == 1


def test_every_estimator_is_here():
    """Of the public names those with a fit are the ones above."""
    public = {getattr(pegasos, name) for name in pegasos.__all__}
    estimators = {one for one in public if isinstance(one, type) and hasattr(one, "fit") and hasattr(one, "predict")}
    assert estimators == {LinearSVC, LinearSVR, LinearSVCCV, SVC, SVR, SequenceSVC, FeatureMapSVC}


def test_a_function_is_not_written(tmp_path):
    X, y = make_data(2)
    with pytest.raises(ValueError, match="holds no code"):
        save_model(fit(SVC(kernel=lambda A, B: A @ B.T), X, y), tmp_path / "m")
    model = FeatureMapSVC(lambda x, label: x * (label + 1.0), tol=0.1)
    with pytest.raises(TypeError, match="save_model writes"):
        save_model(fit(model, X, y), tmp_path / "m")
    assert not (tmp_path / "m").exists()
