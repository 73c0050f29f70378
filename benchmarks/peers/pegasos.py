"""This package. It does not search for a setting: `tol` is the target, and the certificate says that it was reached."""

import os
from typing import Any

from objective import TARGETS, Found, Problem

from peers import LIMIT, Way, threads

PACKAGE = "pegasos"
MODULE = "pegasos"


def ways(problem: Problem) -> list[Way]:
    return [Way("pegasos", fit, ())]


def fit(problem: Problem, X: Any, tol: float, **options: Any) -> Found:
    import pegasos

    if LIMIT in os.environ:
        options["n_jobs"] = threads()
    options |= {"C": problem.C, "tol": tol, "random_state": 0, "max_iter": 10**9}
    if problem.kind == "sequence":
        model = pegasos.SequenceSVC(**options).fit(X, problem.data.y)
        return Found(predicted=model.predict(problem.data.X_test))
    if problem.loss in TARGETS:
        options |= {"loss": problem.loss, "quantile" if problem.loss == "quantile" else "epsilon": problem.parameter}
    if problem.kind == "kernel":
        cls = pegasos.SVR if problem.loss in TARGETS else pegasos.SVC
        model = cls(gamma=problem.gamma, fit_intercept=problem.intercept == "free", **options).fit(X, problem.data.y)
        return Found(model.dual_coef_, model.intercept_, model.support_, dual=model.certificate_.dual)
    options["fit_intercept"] = problem.intercept != "none"
    if problem.intercept == "free":
        options["intercept"] = "free"
    if problem.loss in TARGETS:
        model = pegasos.LinearSVR(**options).fit(X, problem.data.y)
    else:
        joint = {"multi_class": "joint"} if problem.joint else {}
        model = pegasos.LinearSVC(loss=problem.loss, **joint, **options).fit(X, problem.data.y)
    return Found(model.coef_, model.intercept_, dual=model.certificate_.dual)
