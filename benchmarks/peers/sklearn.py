"""scikit-learn: LIBLINEAR and LIBSVM as it ships them, its own logistic regression, and SGD.

`LinearSVC` and `LinearSVR` have an intercept that is penalized, `SVC`, `SVR` and `LogisticRegression` one that is free.
Tolerances are those of each algorithm; SGD gets a number of passes.
"""

import importlib
from typing import Any

from datasets import as_kind
from objective import TARGETS, Found, Problem

from peers import PASSES, Way

PACKAGE = "scikit-learn"
MODULE = "sklearn"

SGD_LOSSES = ("hinge", "squared_hinge", "log_loss", *(loss for loss in TARGETS if loss != "quantile"))


def ways(problem: Problem) -> list[Way]:
    if problem.kind == "kernel":
        name = "sklearn SVR" if problem.loss in TARGETS else "sklearn SVC"
        return [Way(name, fit_libsvm, prepare=doubles)] if has_libsvm(problem) else []
    if problem.kind != "linear":
        return []
    if problem.joint and problem.loss == "hinge":
        return [Way("sklearn LinearSVC", fit_crammer_singer)] if problem.intercept != "free" else []
    found = []
    if problem.loss in ("hinge", "squared_hinge") and problem.intercept != "free":
        found.append(Way("sklearn LinearSVC", fit_linear))
    if problem.loss.endswith("epsilon_insensitive") and problem.intercept != "free":
        found.append(Way("sklearn LinearSVR", fit_linear))
    if problem.loss.startswith("squared") and problem.intercept != "free":
        name = f"{found[0].name}, primal"
        found.append(Way(name, lambda problem, X, tol: fit_linear(problem, X, tol, dual=False)))
    if problem.loss == "log_loss" and problem.intercept != "penalized" and (problem.joint or problem.n_classes == 2):
        found += [Way(f"sklearn LogisticRegression, {name}", logistic(name)) for name in ("lbfgs", "newton-cg", "saga")]
        if problem.data.X.shape[1] * (problem.n_classes if problem.joint else 1) <= 1_000:
            found.append(Way("sklearn LogisticRegression, newton-cholesky", logistic("newton-cholesky")))
        if problem.intercept == "none" and not problem.joint:
            found.append(Way("sklearn LogisticRegression, liblinear", logistic("liblinear")))
    if problem.loss in SGD_LOSSES and problem.intercept != "penalized" and not problem.joint:
        found.append(Way("sklearn SGD", fit_sgd, PASSES))
    return found


def has_libsvm(problem: Problem) -> bool:
    return problem.intercept == "free" and problem.loss in ("hinge", "epsilon_insensitive")


def doubles(problem: Problem) -> Any:
    """As it converts whatever it gets."""
    return as_kind(problem.data.X, "dense float64")


def fit_linear(problem: Problem, X: Any, tol: float, *, dual: bool = True) -> Found:
    from sklearn.svm import LinearSVC, LinearSVR

    options = {
        "C": problem.C,
        "loss": problem.loss,
        "dual": dual,
        "tol": tol,
        "fit_intercept": problem.intercept == "penalized",
        "max_iter": 10**6,
        "random_state": 0,
    }
    if problem.loss in TARGETS:
        model = LinearSVR(epsilon=problem.parameter, **options).fit(X, problem.data.y)
    else:
        model = LinearSVC(**options).fit(X, problem.data.y)
    return Found(model.coef_, model.intercept_)


def fit_crammer_singer(problem: Problem, X: Any, tol: float) -> Found:
    from sklearn.svm import LinearSVC

    model = LinearSVC(
        C=problem.C,
        multi_class="crammer_singer",
        tol=tol,
        fit_intercept=problem.intercept == "penalized",
        max_iter=10**6,
        random_state=0,
    )
    model.fit(X, problem.data.y)
    return Found(model.coef_, model.intercept_)


def logistic(solver: str, package: str = "sklearn.linear_model") -> Any:
    def fit(problem: Problem, X: Any, tol: float) -> Found:
        model = importlib.import_module(package).LogisticRegression(
            C=problem.C,
            tol=tol,
            solver=solver,
            fit_intercept=problem.intercept == "free",
            max_iter=100_000,
            random_state=0,
        )
        model.fit(X, problem.data.y)
        return Found(model.coef_, model.intercept_)

    return fit


def fit_sgd(problem: Problem, X: Any, passes: int) -> Found:
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    options = {
        "loss": problem.loss,
        "alpha": 1 / (problem.C * X.shape[0]),
        "tol": None,
        "max_iter": passes,
        "fit_intercept": problem.intercept == "free",
        "random_state": 0,
    }
    if problem.loss in TARGETS:
        model = SGDRegressor(epsilon=problem.parameter, learning_rate="optimal", **options).fit(X, problem.data.y)
    else:
        model = SGDClassifier(**options).fit(X, problem.data.y)
    return Found(model.coef_, model.intercept_)


def fit_libsvm(problem: Problem, X: Any, tol: float, *, package: str = "sklearn.svm") -> Found:
    module = importlib.import_module(package)
    options = {"C": problem.C, "gamma": problem.gamma, "tol": tol, "cache_size": 2_000}
    if problem.loss in TARGETS:
        model = module.SVR(epsilon=problem.parameter, **options)
    else:
        model = module.SVC(**options)
    model.fit(X, problem.data.y)
    return Found(model.dual_coef_, model.intercept_, model.support_)
