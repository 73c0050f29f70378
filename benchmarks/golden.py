"""Do two builds of the package find the same? Several hundred small fits: objectives, iterations, weights bit for bit.

``python benchmarks/golden.py make FILE`` stores what the package that is imported finds, and ``check FILE`` compares.
``PYTHONPATH`` chooses the package. The fits go through the public interface only, so that commits far apart compare:

    PYTHONPATH=old python benchmarks/golden.py make golden.json
    PYTHONPATH=new python benchmarks/golden.py check golden.json

A bound that is off by more than 1e-12 of the objective, another number of iterations or another reason to stop is a
difference, and the exit code is 1. Whether the weights have the same bits is counted. The data are made up, with fixed
seeds. ``--cases TEXT`` takes the fits whose names have a text in them, ``--every N`` each N-th.
"""

import argparse
import functools
import hashlib
import json
import math
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import pegasos
from pegasos.solvers import SBP, SDCA, SGDR, SMO, FrankWolfe, Pegasos, Perceptron

CLOSE = 1e-12
TINY = 25  # one of so many cases
WEIGHTS = ("coef_", "intercept_", "dual_coef_", "support_", "transitions_", "start_", "end_")

Found = dict[str, Any]
Case = tuple[str, Callable[[], Found]]


def as_csr(X: Any, index: type = np.int32, value: type = np.float64) -> sp.csr_matrix:
    """Sparse rows with numbers of these types."""
    X = sp.csr_matrix(X, dtype=value)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    return X


STORAGES: dict[str, Callable[[Any], Any]] = {
    "dense64": np.asarray,
    "dense32": functools.partial(np.asarray, dtype=np.float32),
    "csr64-int32": as_csr,
    "csr32-int32": functools.partial(as_csr, value=np.float32),
    "csr64-int64": functools.partial(as_csr, index=np.int64),
    "csr32-int64": functools.partial(as_csr, index=np.int64, value=np.float32),
}
FEW = ("dense64", "csr32-int32")  # storages, where all of them would say no more

#: Solvers of linear estimators, and the losses that each has.
EVERY_LOSS = ("auto", "sdca", "interior-point", "sgd-s", "sgd-r", "pegasos")
HINGE_ONLY = ("sgd-m", "norma", "constant-step", "norm-ball", "perceptron")
WITH_KERNEL = ("smo", "sdca", "sbp", "pegasos", "perceptron")


@functools.cache
def classes(n: int = 240, d: int = 15, k: int = 2, whole: bool = False) -> tuple[Any, Any]:
    """Examples of which half the entries are zero, and labels from linear scores with noise."""
    random = np.random.default_rng(n + d + k)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.5)
    if whole:
        X = np.round(20 * np.abs(X))
    return X, (X @ random.normal(size=(d, k)) + random.normal(size=(n, k))).argmax(axis=1)


@functools.cache
def targets(n: int = 240, d: int = 15) -> tuple[Any, Any]:
    """Examples as above, and a linear function with noise."""
    random = np.random.default_rng(n + d)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.5)
    return X, X @ random.normal(size=d) + 0.5 * random.normal(size=n) + 3


@functools.cache
def words(n: int = 400) -> tuple[Any, Any]:
    """Bags of words."""
    return pegasos.datasets.make_text(n, 300, mean_length=30, random_state=0)


@functools.cache
def sentences(n: int = 40) -> tuple[Any, Any]:
    """Lists of words, which tell their labels but for some noise."""
    random = np.random.default_rng(n)
    X, y = [], []
    for _ in range(n):
        own: list[str] = []
        for _ in range(random.integers(1, 9)):
            inside = own and own[-1] != "O"
            own.append(str(random.choice(["O", "B-X", "B-Y", *([f"I-{own[-1][2:]}"] * 3 if inside else [])])))
        X.append([[f"w={label if random.random() < 0.9 else 'odd'}{random.integers(4)}"] for label in own])
        y.append(own)
    return X, y


def weights(n: int) -> Any:
    """Weights of examples, some of them zero."""
    return np.random.default_rng(n).integers(0, 4, size=n).astype(float)


def digest(arrays: list[Any]) -> str:
    """Of the bits of all arrays."""
    hashed = hashlib.sha256()
    for array in arrays:
        hashed.update(np.ascontiguousarray(array).tobytes())
    return hashed.hexdigest()[:16]


def describe(certificates: Any, arrays: list[Any]) -> Found:
    """What is stored of fits, those of several problems part by part."""
    parts = [part for one in certificates for part in (one.parts or (one,))]
    names = ("primal", "dual", "n_iter", "reason")
    return {**{name: [getattr(part, name) for part in parts] for name in names}, "weights": digest(arrays)}


def describe_model(model: Any) -> Found:
    """The same of a fitted estimator."""
    names = [name for name in WEIGHTS if getattr(model, name, None) is not None]
    arrays = [getattr(model, name) for name in names]
    arrays = [array.toarray() if sp.issparse(array) else array for array in arrays]
    if hasattr(model, "certificate_"):
        return describe([model.certificate_], arrays)
    loss, bound = model.progressive_.loss, getattr(model, "lower_bound_", 0.0)
    return {"primal": [loss], "dual": [bound], "n_iter": [model.t_], "reason": ["stream"], "weights": digest(arrays)}


def fit(estimator: str, data: Callable[[], Any], storage: str = "", weighted: bool = False, **parameters: Any) -> Found:
    """A fit with weights or without."""
    X, y = data()
    model = getattr(pegasos, estimator)(**{"n_jobs": 1, "random_state": 0, **parameters})
    more = {"sample_weight": weights(len(y))} if weighted else {}
    return describe_model(model.fit(STORAGES[storage](X) if storage else X, y, **more))


def refit(estimator: str, data: Callable[[], Any], change: dict[str, Any], **parameters: Any) -> Found:
    """A fit that continues another."""
    X, y = data()
    model = getattr(pegasos, estimator)(warm_start=True, n_jobs=1, random_state=0, **parameters).fit(X, y)
    return describe_model(model.set_params(**change).fit(X, y))


def stream(estimator: str, data: Callable[[], Any], storage: str, weighted: bool = False, **parameters: Any) -> Found:
    """A stream in parts."""
    X, y = data()
    X, s = STORAGES[storage](X), weights(len(y)) if weighted else None
    model = getattr(pegasos, estimator)(random_state=0, **parameters)
    for rows in np.array_split(np.arange(len(y)), 5):
        more: dict[str, Any] = {"sample_weight": s[rows]} if s is not None else {}
        if estimator == "LinearSVC":
            more["classes"] = np.unique(y)
        model.partial_fit(X[rows], y[rows], **more)
    return describe_model(model)


def follow(storage: str, **parameters: Any) -> Found:
    """A path of values of C."""
    X, y = classes()
    found = pegasos.path(STORAGES[storage](X), y, Cs=[1e-3, 1e-2, 0.1, 1], n_jobs=1, random_state=0, **parameters)
    return describe(found.certificates, [found.coefs, found.intercepts])


def fit_blocks(estimator: str, data: Callable[[], Any], storage: str, **parameters: Any) -> Found:
    """A fit to a data set on disk that does not fit in the memory it may have."""
    X, y = data()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.ds"
        pegasos.io.write_dataset(path, STORAGES[storage](X), y, weights(len(y)) + 1)
        dataset = pegasos.io.open_dataset(path, memory_limit=214_000_000)
        model = getattr(pegasos, estimator)(n_jobs=1, random_state=0, **parameters).fit(dataset)
        assert "by blocks" in model.certificate_.solver
        return describe_model(model)


def product(x: Any, label: Any) -> Any:
    """Features of example and label together: the example in the place of its label."""
    features = np.zeros(3 * len(x))
    features[label * len(x) : (label + 1) * len(x)] = x
    return features


def fit_feature_map() -> Found:
    X, y = classes(60, 5, 3)
    return describe_model(pegasos.FeatureMapSVC(product, C=0.1, random_state=0).fit(list(X), y))


def matrices(storage: str) -> tuple[Any, Any]:
    """Sequences as one matrix for each."""
    X, y = classes(120, 10, 3)
    cuts = np.cumsum(np.random.default_rng(0).integers(1, 8, size=20))
    pieces = np.split(np.arange(len(y)), cuts[cuts < len(y)])
    X = STORAGES[storage](X)
    return [X[piece] for piece in pieces], [[str(label) for label in y[piece]] for piece in pieces]


def linear_cases() -> Iterator[Case]:
    common: dict[str, Any] = {"tol": 1e-3, "max_iter": 40}
    svc = functools.partial(fit, "LinearSVC", classes, C=0.05, **common)
    for storage in STORAGES:
        for solver in EVERY_LOSS + HINGE_ONLY:
            for loss in ("hinge", "squared_hinge", "log_loss"):
                if (solver in EVERY_LOSS or loss == "hinge") and (solver, loss) != ("interior-point", "log_loss"):
                    yield f"svc/{solver}/{loss}/{storage}", functools.partial(svc, storage, solver=solver, loss=loss)
    for storage in STORAGES:
        for loss in ("squared_hinge", "log_loss"):
            yield f"svc/newton/{loss}/{storage}", functools.partial(svc, storage, solver="newton", loss=loss)
    for solver in EVERY_LOSS + HINGE_ONLY:
        for storage in FEW:
            one = functools.partial(svc, storage, solver=solver)
            yield f"svc/{solver}/weighted/{storage}", functools.partial(one, weighted=True)
            yield f"svc/{solver}/balanced/{storage}", functools.partial(one, class_weight="balanced")
            yield f"svc/{solver}/no-intercept/{storage}", functools.partial(one, fit_intercept=False)
            yield f"svc/{solver}/intercept-scaling/{storage}", functools.partial(one, intercept_scaling=3.0)
            yield f"svc/{solver}/large-C/{storage}", functools.partial(one, C=10.0, max_iter=15)
            yield f"svc/{solver}/scale/{storage}", functools.partial(one, scale=True, max_iter=15)
        yield f"svc/{solver}/words", functools.partial(fit, "LinearSVC", words, solver=solver, alpha=1e-3, max_iter=15)
        yield f"svc/{solver}/two-threads", functools.partial(svc, "dense64", solver=solver, n_jobs=2)
        change = {"C": 0.1}
        again = functools.partial(refit, "LinearSVC", classes, change, solver=solver, C=0.05, tol=1e-3, max_iter=10)
        yield f"svc/{solver}/warm-start", again
    for solver in ("auto", "interior-point", "sdca", "pegasos"):
        for loss in ("hinge", "squared_hinge", "log_loss"):
            for storage in FEW:
                if (solver, loss) != ("interior-point", "log_loss"):
                    free = functools.partial(svc, storage, solver=solver, loss=loss, intercept="free")
                    yield f"svc/{solver}/{loss}/free/{storage}", free
                    yield f"svc/{solver}/{loss}/free-weighted/{storage}", functools.partial(free, weighted=True)
    for solver in ("pegasos", "sgd-r", "sgd-s", "sgd-m"):
        yield f"svc/{solver}/early-stopping", functools.partial(svc, "dense64", solver=solver, early_stopping=True)

    some = {"batch_size": 16}
    options: dict[str, Any] = {
        "batch": Pegasos(**some),
        "batch-subset": Pegasos(**some, sampling="subset"),
        "replace": Pegasos(sampling="replace"),
        "fixed": Pegasos(sampling="fixed"),
        "blocks": Pegasos(sampling="blocks"),
        "project": Pegasos(project=True),
        "mean": Pegasos(average=True),
        "last": Pegasos(average="last"),
        "no-mean": Pegasos(average=False),
        "random-stops": Pegasos(random_stops=5, max_steps=2000, average=False),
        "random-start": Pegasos(start="random"),
        "idle-steps": Pegasos(count_idle_steps=False),
        "max-steps": Pegasos(max_steps=500),
        "no-shrink": SDCA(shrink=False),
        "runs": SDCA(order="blocks"),
        "sgd-r-steps": SGDR(max_steps=3000),
        "perceptron-mean": Perceptron(average=True),
    }
    for name, solver in options.items():
        for storage in FEW:
            yield f"svc/option/{name}/{storage}", functools.partial(svc, storage, solver=solver)
    for way in ("subgradient", "search"):
        yield (
            f"svc/option/free-{way}",
            functools.partial(svc, "dense64", solver=Pegasos(free_intercept=way), intercept="free"),
        )
    yield (
        "svc/option/free-batch",
        functools.partial(svc, "dense64", solver=Pegasos(batch_size=16, free_intercept="batch"), intercept="free"),
    )
    text = functools.partial(words, 6000)
    for solver in ("sdca", "interior-point", "sgd-s", "sgd-m", "sgd-r", "pegasos", SDCA(order="blocks")):
        for jobs in (1, 2):
            name = solver if isinstance(solver, str) else "runs"
            yield (
                f"svc/{name}/many-words/{jobs}",
                functools.partial(fit, "LinearSVC", text, solver=solver, alpha=1e-3, max_iter=10, n_jobs=jobs),
            )
    exact = functools.partial(svc, tol=1e-8, max_iter=1000)
    for solver in ("sdca", "interior-point"):
        for storage in STORAGES:
            yield f"svc/{solver}/exact/{storage}", functools.partial(exact, storage, solver=solver)

    svr = functools.partial(fit, "LinearSVR", targets, C=0.05, **common)
    for storage in STORAGES:
        for solver in EVERY_LOSS:
            for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
                one = functools.partial(svr, storage, solver=solver, loss=loss, epsilon=0.2)
                yield f"svr/{solver}/{loss}/{storage}", one
                if storage in FEW:
                    yield f"svr/{solver}/{loss}/weighted/{storage}", functools.partial(one, weighted=True)
                if storage in FEW and solver not in ("sgd-s", "sgd-r"):
                    yield f"svr/{solver}/{loss}/free/{storage}", functools.partial(one, intercept="free")


def class_cases() -> Iterator[Case]:
    common: dict[str, Any] = {"C": 0.05, "tol": 1e-3, "max_iter": 40}
    few, many = functools.partial(classes, 240, 15, 4), functools.partial(classes, 300, 15, 12)
    for storage in STORAGES:
        for solver in ("auto", "sdca", "pegasos", "sgd-s"):
            for loss in ("hinge", "log_loss"):
                one = functools.partial(fit, "LinearSVC", solver=solver, loss=loss, **common)
                joint = functools.partial(one, few, storage, multi_class="joint")
                yield f"joint/{solver}/{loss}/{storage}", joint
                if storage in FEW:
                    yield f"joint/{solver}/{loss}/weighted/{storage}", functools.partial(joint, weighted=True)
                    yield f"joint/{solver}/{loss}/no-intercept/{storage}", functools.partial(joint, fit_intercept=False)
                    yield (
                        f"joint/{solver}/{loss}/many/{storage}",
                        functools.partial(one, many, storage, multi_class="joint"),
                    )
                yield f"rest/{solver}/{loss}/{storage}", functools.partial(one, few, storage)
        for loss in ("hinge", "squared_hinge", "log_loss"):
            shared = functools.partial(fit, "LinearSVC", many, storage, solver="sdca", loss=loss, **common)
            yield f"rest/many/{loss}/{storage}", shared
            if storage in FEW:
                yield f"rest/many/{loss}/weighted/{storage}", functools.partial(shared, weighted=True)
                yield f"rest/many/{loss}/free/{storage}", functools.partial(shared, intercept="free")
                yield f"rest/many/{loss}/exact/{storage}", functools.partial(shared, tol=1e-7, max_iter=1000)
    cost = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    one = functools.partial(fit, "LinearSVC", few, "dense64", **common)
    for solver in ("sdca", "pegasos", "sgd-s"):
        yield f"joint/{solver}/cost", functools.partial(one, solver=solver, multi_class="joint", cost=cost)
        yield f"joint/{solver}/two-threads", functools.partial(one, solver=solver, multi_class="joint", n_jobs=2)
        change = {"C": 0.1}
        again = functools.partial(refit, "LinearSVC", few, change, solver=solver, C=0.05, tol=1e-3, max_iter=10)
        yield f"joint/{solver}/warm-start", functools.partial(again, multi_class="joint")
        yield f"rest/{solver}/warm-start", again
        yield f"rest/{solver}/two-threads", functools.partial(one, solver=solver, n_jobs=2)
    yield "joint/sdca/exact", functools.partial(one, solver="sdca", multi_class="joint", tol=1e-7, max_iter=1000)
    yield "rest/interior-point", functools.partial(one, solver="interior-point")
    yield "rest/sgd-m", functools.partial(one, solver="sgd-m")
    yield "joint/early-stopping", functools.partial(one, solver="pegasos", multi_class="joint", early_stopping=True)
    yield "rest/early-stopping", functools.partial(one, solver="pegasos", early_stopping=True)


def kernel_cases() -> Iterator[Case]:
    common: dict[str, Any] = {"C": 1.0, "tol": 1e-3, "max_iter": 20}
    few = functools.partial(classes, 200, 6, 3)
    kernels: dict[str, dict[str, Any]] = {
        "rbf": {},
        "linear": {},
        "poly": {"coef0": 1.0, "degree": 2},
        "sigmoid": {"gamma": 0.01, "coef0": -1.0},
    }
    for solver in WITH_KERNEL:
        for kernel, more in kernels.items():
            for storage in STORAGES if kernel == "rbf" else FEW:
                one = functools.partial(fit, "SVC", classes, storage, kernel=kernel, solver=solver, **more, **common)
                bare = functools.partial(one, fit_intercept=False)
                yield f"kernel/{solver}/{kernel}/{storage}", bare
                if solver in ("smo", "sbp"):
                    yield f"kernel/{solver}/{kernel}/intercept/{storage}", one
                if kernel == "rbf" and storage in FEW and solver != "sbp":
                    yield f"kernel/{solver}/weighted/{storage}", functools.partial(bare, weighted=True)
        one = functools.partial(fit, "SVC", classes, "dense64", solver=solver, fit_intercept=False, **common)
        yield f"kernel/{solver}/callable", functools.partial(one, kernel=inner)
        yield (
            f"kernel/{solver}/precomputed",
            functools.partial(fit, "SVC", gram, solver=solver, kernel="precomputed", fit_intercept=False, **common),
        )
        yield f"kernel/{solver}/two-threads", functools.partial(one, n_jobs=2)
        yield (
            f"kernel/{solver}/bytes",
            functools.partial(
                fit,
                "SVC",
                functools.partial(classes, whole=True),
                "dense64",
                solver=solver,
                fit_intercept=False,
                **common,
            ),
        )
        for way in ("ovo", "ovr"):
            yield (
                f"kernel/{solver}/{way}",
                functools.partial(
                    fit, "SVC", few, "dense64", solver=solver, multi_class=way, fit_intercept=False, **common
                ),
            )
    svc = functools.partial(fit, "SVC", classes, "dense64", **common)
    yield "kernel/smo/subsets", functools.partial(svc, solver=SMO(working_set=32, block=8), max_iter=1000)
    yield "kernel/smo/exact", functools.partial(svc, solver="smo", tol=1e-8, max_iter=10_000)
    yield "kernel/smo/small-cache", functools.partial(svc, solver="smo", cache_size=0.1)
    yield "kernel/smo/scale", functools.partial(svc, solver="smo", scale=True)
    yield "kernel/sdca/exact", functools.partial(svc, solver="sdca", fit_intercept=False, tol=1e-7, max_iter=10_000)
    yield "kernel/sbp/nu", functools.partial(svc, solver=SBP(nu=0.1), fit_intercept=False)
    large = functools.partial(fit, "SVC", functools.partial(classes, 2500, 8), C=0.5)
    yield "kernel/smo/large", functools.partial(large, "dense64", solver="smo")
    yield "kernel/smo/large-csr", functools.partial(large, "csr32-int32", solver="smo", n_jobs=2)
    yield "kernel/sdca/large", functools.partial(large, "dense32", solver="sdca", fit_intercept=False)
    for solver in ("smo", "sdca"):
        bare = {"solver": solver, "fit_intercept": False, **common}
        yield f"kernel/{solver}/warm-start", functools.partial(refit, "SVC", classes, {"C": 2.0}, **bare)
        yield (
            f"kernel/svr/{solver}/weighted",
            functools.partial(fit, "SVR", targets, "dense64", weighted=True, epsilon=0.2, **bare),
        )
        for storage in STORAGES:
            yield f"kernel/svr/{solver}/{storage}", functools.partial(fit, "SVR", targets, storage, epsilon=0.2, **bare)
    for storage in STORAGES:
        yield (
            f"kernel/svr/intercept/{storage}",
            functools.partial(fit, "SVR", targets, storage, solver="smo", epsilon=0.2, **common),
        )


def inner(X: Any, Z: Any) -> Any:
    """A kernel given as a function."""
    return (1 + X @ Z.T) ** 2


def gram() -> tuple[Any, Any]:
    """A kernel matrix."""
    X, y = classes()
    return inner(X, X), y


def sequence_cases() -> Iterator[Case]:
    common: dict[str, Any] = {"C": 0.1, "tol": 1e-2, "max_iter": 30}
    for solver in ("frank-wolfe", "pegasos"):
        one = functools.partial(fit, "SequenceSVC", sentences, solver=solver, **common)
        yield f"sequence/{solver}/strings", one
        yield f"sequence/{solver}/weighted", functools.partial(one, weighted=True)
        yield f"sequence/{solver}/bio", functools.partial(one, constraints="bio")
        yield f"sequence/{solver}/bare", functools.partial(one, boundaries=False, fit_intercept=False)
        yield f"sequence/{solver}/cost", functools.partial(one, cost=2.0 - 2.0 * np.eye(5))
        yield f"sequence/{solver}/two-threads", functools.partial(one, n_jobs=2)
        for storage in STORAGES:
            yield (
                f"sequence/{solver}/{storage}",
                functools.partial(fit, "SequenceSVC", functools.partial(matrices, storage), solver=solver, **common),
            )
    yield (
        "sequence/frank-wolfe/decodings",
        functools.partial(fit, "SequenceSVC", sentences, solver=FrankWolfe(decodings=3), **common),
    )
    yield "sequence/frank-wolfe/exact", functools.partial(fit, "SequenceSVC", sentences, C=0.1, tol=1e-6)
    change = {"C": 0.2}
    yield "sequence/frank-wolfe/warm-start", functools.partial(refit, "SequenceSVC", sentences, change, **common)
    yield "feature-map", fit_feature_map


def other_cases() -> Iterator[Case]:
    few = functools.partial(classes, 240, 15, 4)
    streams: list[tuple[str, dict[str, Any]]] = [("pegasos", {"alpha": 0.01}), ("adagrad", {"solver": "adagrad"})]
    for storage in STORAGES:
        for name, parameters in streams:
            for loss in ("hinge", "squared_hinge", "log_loss"):
                one = functools.partial(stream, "LinearSVC", classes, storage, loss=loss, **parameters)
                yield f"stream/{name}/{loss}/{storage}", one
            yield f"stream/{name}/weighted/{storage}", functools.partial(one, weighted=True)
            yield f"stream/{name}/classes/{storage}", functools.partial(stream, "LinearSVC", few, storage, **parameters)
            for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
                yield (
                    f"stream/{name}/{loss}/{storage}",
                    functools.partial(stream, "LinearSVR", targets, storage, loss=loss, epsilon=0.1, **parameters),
                )
        yield f"path/{storage}", functools.partial(follow, storage)
        yield f"cv/{storage}", functools.partial(fit, "LinearSVCCV", classes, storage, Cs=4, cv=3)
    yield "path/squared_hinge", functools.partial(follow, "dense64", loss="squared_hinge", solver="sdca")
    yield "path/free", functools.partial(follow, "dense64", intercept="free")
    yield "cv/two-threads", functools.partial(fit, "LinearSVCCV", classes, "dense64", Cs=4, cv=3, n_jobs=2)

    wide = functools.partial(classes, 5500, 100)
    for storage, data in (("dense64", wide), ("csr64-int32", functools.partial(classes, 7500, 120))):
        for solver in ("sdca", "pegasos", "sgd-s"):
            for loss in ("hinge", "log_loss"):
                one = functools.partial(fit_blocks, "LinearSVC", data, storage, C=1e-3, tol=1e-2, max_iter=5)
                yield f"blocks/{solver}/{loss}/{storage}", functools.partial(one, solver=solver, loss=loss)
    yield (
        "blocks/classes",
        functools.partial(
            fit_blocks, "LinearSVC", functools.partial(classes, 5500, 100, 3), "dense64", C=1e-3, tol=1e-2, max_iter=5
        ),
    )
    yield (
        "blocks/svr",
        functools.partial(
            fit_blocks, "LinearSVR", functools.partial(targets, 5500, 100), "dense64", C=1e-3, tol=1e-2, max_iter=5
        ),
    )


def choose(texts: list[str], every: int) -> list[Case]:
    """The cases whose names have one of these texts in them, each so-many-th."""
    cases = [*linear_cases(), *class_cases(), *kernel_cases(), *sequence_cases(), *other_cases()]
    assert len({name for name, _ in cases}) == len(cases)
    return [case for case in cases if not texts or any(text in case[0] for text in texts)][::every]


def run(case: Case) -> Found:
    """What is found; an error is found too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return case[1]()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def differences(old: Found, new: Found) -> list[str]:
    """Where two findings differ by more than rounding."""
    if "error" in old or "error" in new:
        told = [found.get("error", "none") for found in (old, new)]
        return [] if told[0] == told[1] else [f"error: {told[0]}, now {told[1]}"]
    found = [f"{name}: {old[name]}, now {new[name]}" for name in ("n_iter", "reason") if old[name] != new[name]]
    for name in ("primal", "dual"):
        far = max((_distance(*values) for values in zip(old[name], new[name], old["primal"], strict=True)), default=0)
        if far > CLOSE:
            found.append(f"{name}: {far:.1e} of the objective off")
    return found


def _distance(old: float, new: float, objective: float) -> float:
    size = max(abs(old), abs(objective) if math.isfinite(objective) else 0.0)
    return 0.0 if old == new else abs(old - new) / size if size else math.inf


def make(file: Path, cases: list[Case]) -> int:
    stored = {case[0]: run(case) for case in cases}
    file.write_text(json.dumps(stored, indent=0))
    errors = {name: found["error"] for name, found in stored.items() if "error" in found}
    for name, error in errors.items():
        print(f"{name}: {error}")
    print(f"{len(stored)} fits stored, {len(errors)} of them errors")
    return 1 if errors else 0


def check(file: Path, cases: list[Case]) -> int:
    stored = json.loads(file.read_text())
    cases = [case for case in cases if case[0] in stored]
    different = same = 0
    for case in cases:
        old, new = stored[case[0]], run(case)
        found = differences(old, new)
        different += bool(found)
        same += old.get("weights") == new.get("weights")
        for text in found:
            print(f"{case[0]}: {text}", flush=True)
    print(f"{len(cases)} fits: {different} differ, {same} have the same weights bit for bit")
    return 1 if different else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["make", "check"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--cases", nargs="+", default=[], metavar="TEXT")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--tiny", action="store_true", help=f"each {TINY}-th, to see that it runs")
    arguments = parser.parse_args()
    print(f"package {Path(pegasos.__file__).parent}")
    cases = choose(arguments.cases, TINY if arguments.tiny else arguments.every)
    return {"make": make, "check": check}[arguments.action](arguments.file, cases)


if __name__ == "__main__":
    sys.exit(main())
