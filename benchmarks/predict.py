"""Prediction beside scikit-learn: batches and single rows, every kind of input, linear and with a kernel.

``python benchmarks/predict.py [--kinds linear kernel] [--repeats 7]``: `predict` of LinearSVC, LinearSVR, SVC and SVR
through the public interface. Linear contenders have the same weights; those with a kernel are fitted to the same
examples with the same parameters. Both take turns, single rows a hundred at a time and each alone; medians of seconds,
and the ratio of scikit-learn's to ours: more than 1 means that ours is faster. Labels must be the same, but for
examples that lie within the tolerance of the fits; the share that differs is told where there is one.

``--processor-time``: one thread each, and the seconds that a processor worked for it. On a machine that has other work
to do, or whose share of the processors is limited, this tells more than the time that passed.
"""

import argparse
import functools
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import svm
from threadpoolctl import threadpool_limits
from timing import alternate, print_machine, seconds

import pegasos

HEAD = ("estimator", "classes", "X", "rows", "pegasos, ms", "scikit-learn, ms", "ratio", "wanted")
Clock = Callable[[Callable[[], object]], float]
SINGLE = 100  # rows that are predicted one by one

#: Ratios wanted, for batches of each kind of input.
WANTED = {"float64": 1.5, "float32": 3.0, "CSR float64": 3.0, "CSR float32": 3.0}


class Sizes(NamedTuple):
    """How large the problems are."""

    entries: int  # of a dense batch
    texts: tuple[int, ...]  # rows of sparse batches: within the caches, and with as many entries as a dense batch
    words: int  # that there are
    train: int  # examples of fits
    kernel: int  # rows of a batch for machines with a kernel
    features: tuple[int, ...]


FULL = Sizes(8_000_000, (20_000, 107_000), 47_236, 3_000, 2_000, (20, 200, 784))
TINY = Sizes(2_000, (30,), 50, 60, 30, (20,))


class Case(NamedTuple):
    """Two fitted estimators, and what they predict."""

    name: str
    n_classes: int
    kind: str  # of input
    X: Any
    ours: Any
    theirs: Any
    wanted: float  # the ratio of a batch


def dense(random: np.random.Generator, n: int, d: int) -> NDArray[np.float64]:
    """Numbers, or of many features pixels: most are zero, the others whole numbers over 255."""
    X = random.normal(size=(n, d))
    return np.where(np.abs(X) > 1.3, np.round(np.abs(X) * 60).clip(0, 255) / 255, 0.0) if d > 500 else X


def texts(random: np.random.Generator, n: int, d: int) -> sp.csr_matrix:
    """Rows of unit length with some 75 words each, some far more frequent than others."""
    lengths = random.poisson(75, n).clip(1, d)
    words = np.minimum(d * random.random(lengths.sum()) ** 3, d - 1).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    X = sp.csr_matrix((random.random(len(words)) + 0.1, words, starts), shape=(n, d))
    X.sum_duplicates()
    X.data /= np.repeat(np.sqrt(np.asarray(X.power(2).sum(axis=1)).ravel()), np.diff(X.indptr))
    return X


def inputs(random: np.random.Generator, sizes: Sizes, kernel: bool) -> Iterator[tuple[str, str, Any]]:
    """What to call it, what kind it is, and X: examples to fit to, then those to predict."""
    for d in sizes.features:
        n = sizes.train + (sizes.kernel if kernel else max(sizes.entries // d, SINGLE))
        X = dense(random, n, d)
        for dtype in ("float64", "float32"):
            yield f"{dtype}, {d} features", dtype, X.astype(dtype)
    for rows in (sizes.kernel,) if kernel else sizes.texts:
        X = texts(random, sizes.train + rows, sizes.words)
        for dtype in ("float64", "float32"):
            yield f"CSR {dtype}, {sizes.words} features", f"CSR {dtype}", X.astype(dtype)


def targets(random: np.random.Generator, X: Any, n_classes: int) -> NDArray[Any]:
    """Labels of so many classes, or numbers; not all of them can be told from X."""
    columns = max(n_classes, 1)
    scores = np.asarray(X @ random.normal(size=(X.shape[1], columns)))
    scores = scores / scores.std() + random.normal(scale=0.5, size=scores.shape)
    if n_classes == 0:
        return scores[:, 0]
    return (scores[:, 0] > np.median(scores[:, 0])).astype(int) if n_classes == 2 else scores.argmax(axis=1)


def linear_cases(sizes: Sizes) -> Iterator[Case]:
    """Weights are those of our fit to a few examples, for both."""
    random = np.random.default_rng(0)
    for name, kind, X in inputs(random, sizes, kernel=False):
        train, test = X[: sizes.train], X[sizes.train :]
        for n_classes in (2, 10, 0):
            y = targets(random, train, n_classes)
            estimator = "LinearSVC" if n_classes else "LinearSVR"
            ours = getattr(pegasos, estimator)(tol=0.1, max_iter=50, random_state=0).fit(train, y)
            theirs = getattr(svm, estimator)(max_iter=1, tol=10, dual=True).fit(train, y)
            theirs.coef_, theirs.intercept_ = np.array(ours.coef_), np.array(ours.intercept_)
            yield Case(estimator, n_classes, name, test, ours, theirs, WANTED[kind])


def kernel_cases(sizes: Sizes) -> Iterator[Case]:
    """Each is fitted to the same examples."""
    random = np.random.default_rng(1)
    for name, _, X in inputs(random, sizes, kernel=True):
        train, test = X[: sizes.train], X[sizes.train :]
        for n_classes in (2, 10, 0):
            y = targets(random, train, n_classes)
            estimator = "SVC" if n_classes else "SVR"
            ours = getattr(pegasos, estimator)(random_state=0, tol=1e-4).fit(train, y)
            theirs = getattr(svm, estimator)().fit(train, y)
            yield Case(estimator, n_classes, name, test, ours, theirs, 3.0)


def check(case: Case, kernel: bool) -> str:
    """A word on predictions that differ, if any do."""
    ours, theirs = case.ours.predict(case.X), case.theirs.predict(case.X)
    if case.n_classes == 0:
        error = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
        return f"  values differ by up to {error:.1e}" if error > (0.02 if kernel else 1e-6) else ""
    share = float((ours != theirs).mean())
    return f"  {share:.2%} of the labels differ" if share > 0 else ""


def worked(job: Callable[[], object]) -> float:
    """How long processors work for the job."""
    started = time.process_time()
    job()
    return time.process_time() - started


def one_by_one(predict: Callable[[Any], Any], rows: list[Any], clock: Clock) -> float:
    """Seconds for a row."""

    def all_rows() -> None:
        for row in rows:
            predict(row)

    return clock(all_rows) / len(rows)


def measure(case: Case, repeats: int, clock: Clock) -> list[list[str]]:
    """A line for a batch and one for single rows."""
    lines = []
    rows = [case.X[i : i + 1] for i in range(min(SINGLE, case.X.shape[0]))]
    models = {"ours": case.ours, "theirs": case.theirs}
    batch = {key: functools.partial(clock, functools.partial(m.predict, case.X)) for key, m in models.items()}
    alone = {key: functools.partial(one_by_one, m.predict, rows, clock) for key, m in models.items()}
    for count, contenders, wanted in ((case.X.shape[0], batch, case.wanted), (1, alone, 1.0)):
        found = alternate(contenders, repeats)
        ratio = found["theirs"] / found["ours"]
        line = [case.name, str(case.n_classes or ""), case.kind, f"{count:,}", f"{1e3 * found['ours']:.4g}"]
        lines.append([*line, f"{1e3 * found['theirs']:.4g}", f"{ratio:.2f}", f"{wanted:g}"])
        if ratio < wanted:
            lines[-1][-1] += ", missed"
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="very small problems, to see that it runs")
    parser.add_argument("--kinds", nargs="+", default=["linear", "kernel"], choices=["linear", "kernel"])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--processor-time", action="store_true", help="of one thread, in place of time that passes")
    arguments = parser.parse_args()
    sizes, repeats = (TINY, 1) if arguments.tiny else (FULL, arguments.repeats)
    warnings.simplefilter("ignore")  # fits that are stopped early on purpose
    print_machine()
    print(f"| {' | '.join(HEAD)} |\n|{len(HEAD) * '---|'}")
    alone = arguments.processor_time
    with threadpool_limits(1 if alone else None):
        for kind in arguments.kinds:
            for case in (linear_cases if kind == "linear" else kernel_cases)(sizes):
                case.ours.set_params(n_jobs=1 if alone else None)
                word = check(case, kind == "kernel")
                for line in measure(case, repeats, worked if alone else seconds):
                    print(f"| {' | '.join(line)} |", flush=True)
                if word:
                    print(word)


if __name__ == "__main__":
    main()
