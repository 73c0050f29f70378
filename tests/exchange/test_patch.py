"""scikit-learn's estimators with our fit: the same problem, to the gap, and what is another problem is left alone."""

import logging
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sklearn.linear_model
import sklearn.svm
from scipy.sparse import csr_matrix
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale

import pegasos
from pegasos.exchange import patch

THEIRS = {name: made.original for name, made in patch.PATCHES.items()}
DATA = {name: load(return_X_y=True) for name, load in [("cancer", load_breast_cancer), ("iris", load_iris)]}
DATA["wine"] = load_wine(return_X_y=True)
DATA = {name: (scale(X), y) for name, (X, y) in DATA.items()}
TARGETS = scale(load_diabetes().data), load_diabetes().target / 100


@pytest.fixture(autouse=True)
def patched():
    """The patch, of which the tests leave nothing."""
    patch._told.clear()
    with pegasos.patch_sklearn():
        yield
    assert THEIRS["SVC"] is sklearn.svm.SVC


def objective(model, X, y, weights=None):
    """Of linear machines, each class against the rest."""
    s = np.ones(len(y)) if weights is None else weights
    total = 0.0
    coef = np.atleast_2d(model.coef_)
    intercepts = np.broadcast_to(model.intercept_, len(coef))
    penalised = type(model).__name__ != "LogisticRegression" or model.solver == "liblinear"
    for k, (w, b) in enumerate(zip(coef, intercepts, strict=True)):
        score = X @ w + b
        total += w @ w / 2 + (b / model.intercept_scaling) ** 2 / 2 * (penalised and model.fit_intercept)
        if hasattr(model, "classes_"):
            t = np.where(y == model.classes_[k if len(coef) > 1 else 1], 1, -1) * score
            losses = np.logaddexp(0, -t) if not hasattr(model, "loss") else np.maximum(0, 1 - t)
            power = 2 if getattr(model, "loss", "") == "squared_hinge" else 1
        else:
            losses = np.maximum(0, np.abs(score - y) - model.epsilon)
            power = 2 if model.loss.startswith("squared") else 1
        total += model.C * (s @ losses**power)
    return total


LINEAR = [
    ("LinearSVC", {}),
    ("LinearSVC", {"C": 0.1, "loss": "hinge", "intercept_scaling": 2}),
    ("LinearSVC", {"fit_intercept": False, "dual": False}),
    ("LogisticRegression", {}),
    ("LogisticRegression", {"solver": "liblinear", "C": 5}),
]


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(("name", "given"), LINEAR)
def test_objective_within_the_gap(name, given, data, weighted):
    X, y = DATA[data]
    y = y > 0 if name == "LogisticRegression" else y
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    ours = getattr(sklearn.svm, name, None) or getattr(sklearn.linear_model, name)
    model = ours(random_state=0, **given).fit(X, y, sample_weight=weights)
    their = THEIRS[name](random_state=0, **given)
    their.set_params(tol=1e-8, max_iter=10**5).fit(X, y, sample_weight=weights)
    assert model.certificate_.converged
    assert not hasattr(their, "certificate_")
    best = objective(their, X, y, weights)
    assert objective(model, X, y, weights) <= best * (1 + 1e-4)
    assert np.mean(model.predict(X) == their.predict(X)) > 0.99
    assert model.get_params().keys() == their.get_params().keys()
    assert (model.coef_.shape, np.shape(model.intercept_)) == (their.coef_.shape, np.shape(their.intercept_))


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_linear_regression(loss):
    X, y = TARGETS
    model = sklearn.svm.LinearSVR(epsilon=0.1, loss=loss).fit(X, y)
    their = THEIRS["LinearSVR"](epsilon=0.1, loss=loss, tol=1e-8, max_iter=10**6).fit(X, y)
    assert objective(model, X, y) <= objective(their, X, y) * (1 + 1e-4)
    np.testing.assert_allclose(model.predict(X), their.predict(X), atol=0.02)


KERNELS = [{}, {"kernel": "linear", "C": 0.1}, {"kernel": "poly", "coef0": 1}, {"C": 10, "gamma": 0.01}]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("given", KERNELS)
def test_kernels(given, data, weighted):
    X, y = DATA[data]
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    model = sklearn.svm.SVC(**given).fit(X, y, sample_weight=weights)
    their = THEIRS["SVC"](tol=1e-6, **given).fit(X, y, sample_weight=weights)
    assert model.certificate_.gap <= 1e-4
    decided, expected = model.decision_function(X), their.decision_function(X)
    np.testing.assert_allclose(decided, expected, atol=0.05 * np.abs(expected).max())
    assert np.mean(model.predict(X) == their.predict(X)) > 0.99
    assert vars(their).keys() <= vars(model).keys()
    assert model._gamma == pytest.approx(their._gamma)


def test_kernel_regression_sparse_and_matrices():
    X, y = TARGETS
    model, their = sklearn.svm.SVR(C=10).fit(X, y), THEIRS["SVR"](C=10, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.predict(X), their.predict(X), atol=0.02)
    X, y = DATA["iris"]
    sparse = csr_matrix(np.where(X > 0, X, 0))
    model, their = sklearn.svm.SVC().fit(sparse, y), THEIRS["SVC"]().fit(sparse, y)
    assert np.mean(model.predict(sparse) == their.predict(sparse)) > 0.99
    K = rbf_kernel(X)
    model = sklearn.svm.SVC(kernel="precomputed").fit(K, y)
    assert np.mean(model.predict(K) == THEIRS["SVC"](kernel="precomputed").fit(K, y).predict(K)) > 0.99


def test_crammer_singer_and_softmax():
    X, y = DATA["wine"]
    model = sklearn.svm.LinearSVC(multi_class="crammer_singer", C=0.1).fit(X, y)
    their = THEIRS["LinearSVC"](multi_class="crammer_singer", C=0.1, tol=1e-8, max_iter=10**5).fit(X, y)

    def value(model):
        scores = X @ model.coef_.T + model.intercept_ + (np.arange(3) != y[:, None])
        losses = scores.max(axis=1) - scores[np.arange(len(y)), y]
        return ((model.coef_**2).sum() + (model.intercept_**2).sum()) / 2 + 0.1 * losses.sum()

    assert value(model) <= value(their) * (1 + 1e-4)
    model = sklearn.linear_model.LogisticRegression(fit_intercept=False).fit(X, y)
    their = THEIRS["LogisticRegression"](fit_intercept=False, tol=1e-10, max_iter=10**4).fit(X, y)

    def negative_likelihood(model):
        scores = X @ model.coef_.T
        return (model.coef_**2).sum() / 2 + (logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]).sum()

    assert model.certificate_.converged
    assert negative_likelihood(model) <= negative_likelihood(their) * (1 + 1e-4)
    np.testing.assert_allclose(model.predict_proba(X), their.predict_proba(X), atol=0.01)


X, Y = DATA["iris"]
TWO = Y % 2
LEFT = [
    ("LinearSVC", {"penalty": "l1", "dual": False}, Y, None, "penalty='l1'"),
    ("LinearSVC", {"class_weight": "balanced"}, Y, None, "more than two classes is another problem"),
    ("LinearSVC", {"max_iter": 999}, Y, None, "max_iter=999"),
    ("LinearSVC", {"class_weight": "balanced"}, TWO, np.ones(150), "counts weights of examples"),
    ("LinearSVR", {"max_iter": 10}, X[:, 0], None, "max_iter=10"),
    ("SVC", {"kernel": "sigmoid", "gamma": 0.01}, Y, None, "not positive semi-definite"),
    ("SVC", {"kernel": lambda a, b: a @ b.T}, Y, None, "function"),
    ("SVC", {"max_iter": 5}, Y, None, "max_iter=5"),
    ("SVC", {}, Y, np.arange(150.0), "zero"),
    ("SVR", {"kernel": "poly", "coef0": -1}, X[:, 0], None, "coef0=-1"),
    ("LogisticRegression", {}, Y, None, "intercepts are not penalised"),
    ("LogisticRegression", {"l1_ratio": 1, "solver": "saga", "max_iter": 1000}, TWO, None, "l1_ratio=1"),
    ("LogisticRegression", {"C": np.inf, "max_iter": 1000}, X[:, 0] > X[:, 1], None, "C=inf"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "given", "y", "weights", "why"), LEFT)
def test_left_alone(name, given, y, weights, why, caplog):
    """Told once, and then scikit-learn's own fit, to the last bit."""
    home = sklearn.linear_model if name == "LogisticRegression" else sklearn.svm
    seed = {} if name == "SVR" else {"random_state": 0}
    with caplog.at_level(logging.WARNING, "pegasos"):
        models = [getattr(home, name)(**given, **seed).fit(X, y, sample_weight=weights) for _ in range(2)]
    assert [record.getMessage().startswith(f"{name} is left to scikit-learn: ") for record in caplog.records] == [True]
    assert why in caplog.text
    their = THEIRS[name](**given, **seed).fit(X, y, sample_weight=weights)
    for model in models:
        assert not hasattr(model, "certificate_")
        np.testing.assert_array_equal(model.predict(X), their.predict(X))
        np.testing.assert_array_equal(model.intercept_, their.intercept_)


@pytest.mark.filterwarnings("ignore:The `probability`:FutureWarning")
def test_probabilities_are_left_alone(caplog):
    model = sklearn.svm.SVC(probability=True, random_state=0).fit(X, Y)
    assert model.predict_proba(X).shape == (150, 3)
    assert "probability=True" in caplog.text


def test_indefinite_matrix_is_left_alone(caplog):
    K = X @ X.T - 5 * np.eye(len(X))
    model = sklearn.svm.SVC(kernel="precomputed", max_iter=-1).fit(K, TWO)
    assert not hasattr(model, "certificate_")
    assert "not positive semi-definite" in caplog.text


def test_errors_are_scikit_learns(caplog):
    with pytest.raises(ValueError, match=r"'C' parameter of SVC must be a float"):
        sklearn.svm.SVC(C=-1).fit(X, Y)
    with pytest.raises(ValueError, match="contains NaN"):
        sklearn.svm.LinearSVC().fit(np.full((150, 2), np.nan), Y)
    with pytest.raises(ValueError, match="Unsupported set of arguments"):
        sklearn.svm.LinearSVC(loss="hinge", dual=False).fit(X, Y)
    assert caplog.text == ""


def test_finer_tol_is_a_finer_gap():
    assert sklearn.svm.SVC(tol=1e-6).fit(X, TWO).certificate_.gap <= 1e-7
    assert sklearn.svm.LinearSVC(tol=0.1).fit(X, TWO).certificate_.gap <= 1e-4


def test_what_is_an_estimator_of_what():
    from sklearn.svm import SVC

    assert SVC is sklearn.svm.SVC is patch.SVC
    before, after = THEIRS["SVC"](), SVC()
    assert isinstance(after, THEIRS["SVC"])
    assert isinstance(before, SVC)  # a model from before the patch
    assert issubclass(THEIRS["SVC"], SVC)
    assert not isinstance(sklearn.svm.NuSVC(), SVC)
    assert not isinstance(before, type("Mine", (SVC,), {}))
    assert repr(SVC(C=2)) == "SVC(C=2)"
    assert type(clone(after)) is SVC


def test_searches_and_pickles():
    search = GridSearchCV(sklearn.svm.SVC(), {"C": [0.1, 1, 10]}, cv=3).fit(X, Y)
    assert search.best_estimator_.certificate_.converged
    pegasos.unpatch_sklearn()
    loaded = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(loaded.predict(X), search.predict(X))
    assert sklearn.svm.SVC is THEIRS["SVC"]
    pegasos.patch_sklearn()


def test_a_second_fit_leaves_nothing_of_the_first():
    model = sklearn.svm.LinearSVC().fit(X, Y)
    model.set_params(penalty="l1", dual=False, max_iter=10**5, tol=1e-3).fit(X, Y)
    assert not hasattr(model, "certificate_")
    model.set_params(penalty="l2").fit(X, TWO)
    assert (model.certificate_.converged, model.coef_.shape) == (True, (1, 4))


def test_patches_within_patches():
    with pegasos.patch_sklearn("SVC"):
        pass
    assert sklearn.svm.SVC is patch.SVC  # the patch around it holds on
    pegasos.unpatch_sklearn()
    with pegasos.patch_sklearn("LinearSVC"):
        assert sklearn.svm.LinearSVC is patch.LinearSVC
        assert sklearn.svm.SVC is THEIRS["SVC"]
    assert sklearn.svm.LinearSVC is THEIRS["LinearSVC"]
    with pytest.raises(ValueError, match="'NuSVC' is none of"):
        pegasos.patch_sklearn("NuSVC")
    pegasos.patch_sklearn()


def test_scripts(tmp_path):
    """``python -m pegasos script.py`` runs it with its own arguments."""
    (tmp_path / "helper.py").write_text("VALUE = 3\n")
    (tmp_path / "script.py").write_text(
        "import sys\nfrom helper import VALUE\nfrom sklearn.svm import SVC\nfrom sklearn.datasets import load_iris\n"
        "model = SVC().fit(*load_iris(return_X_y=True))\n"
        "print(VALUE, sys.argv[1:], __name__, model.certificate_.converged)\n"
    )
    line = [sys.executable, "-m", "pegasos", str(tmp_path / "script.py"), "a", "--b"]
    ended = subprocess.run(line, capture_output=True, text=True, check=True)
    assert ended.stdout == "3 ['a', '--b'] __main__ True\n"
    ended = subprocess.run([sys.executable, "-m", "pegasos", "missing.py"], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (1, "python -m pegasos: there is no script missing.py\n")


def test_digits():
    """Ten classes, on more features than the others have."""
    X, y = load_digits(return_X_y=True)
    X = X[:500] / 16
    model, their = sklearn.svm.SVC().fit(X, y[:500]), THEIRS["SVC"]().fit(X, y[:500])
    assert np.mean(model.predict(X) == their.predict(X)) > 0.99


def test_a_fit_that_falls_short_is_left_alone(caplog, monkeypatch):
    monkeypatch.setattr("pegasos.exchange.patch.GAP", 1e-30)
    monkeypatch.setattr("pegasos.exchange.patch.SMALLEST_GAP", 1e-30)
    X, y = load_breast_cancer(return_X_y=True)
    theirs = sklearn.linear_model.LogisticRegression(max_iter=5000).fit(X, y)
    with pegasos.patch_sklearn():
        ours = sklearn.linear_model.LogisticRegression(max_iter=5000).fit(X, y)
    assert "did not reach its gap" in caplog.text
    assert np.array_equal(ours.coef_, theirs.coef_)
    assert not hasattr(ours, "certificate_")


def test_the_same_data_give_the_same_model():
    X, y = load_iris(return_X_y=True)
    with pegasos.patch_sklearn():
        first, second = (sklearn.svm.SVC(C=0.5).fit(X, y).dual_coef_ for _ in range(2))
    assert np.array_equal(first, second)


def test_names_in_a_list():
    pegasos.unpatch_sklearn()
    with pegasos.patch_sklearn(["SVC", "SVR"]) as made:
        assert made.names == ["SVC", "SVR"]
        assert THEIRS["LinearSVC"] is sklearn.svm.LinearSVC
    with pegasos.patch_sklearn([]) as made:
        assert made.names == []
    with pytest.raises(ValueError, match="'NuSVC' is none of"):
        pegasos.patch_sklearn(["SVC", "NuSVC"])
    assert THEIRS["SVC"] is sklearn.svm.SVC


def test_what_the_page_says_of_pickles_and_precision():
    X, y = DATA["cancer"]
    model = sklearn.linear_model.LogisticRegression().fit(X.astype(np.float32), y)
    assert (model.coef_.dtype, model.intercept_.dtype) == (np.float64, np.float64)
    assert b"pegasos" in pickle.dumps(model)


def test_a_script_is_run_as_by_python(tmp_path):
    """Its path is as given, and a traceback begins with it."""
    (tmp_path / "script.py").write_text("import sys\nprint(sys.argv, __file__)\n1 / 0\n")
    (tmp_path / "wrong.py").write_text("x = (\n")
    for script in ("script.py", "wrong.py"):
        line = [sys.executable, "-m", "pegasos", script, "a"]
        ended = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
        assert ended.returncode == 1
        told = ended.stderr.splitlines()
        assert told[1 if script == "script.py" else 0].startswith(f'  File "{tmp_path / script}", line')
        assert script == "wrong.py" or ended.stdout == f"['script.py', 'a'] {tmp_path / 'script.py'}\n"
        assert "runpy" not in ended.stderr
