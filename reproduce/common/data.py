"""Data of the experiments: those in the folder that PEGASOS_DATA names, scikit-learn's, and made-up ones."""

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from datasets import Data, dense, load, load_raw
from sklearn.datasets import load_digits

from pegasos.datasets import make_text
from reproduce.common.experiment import Absent, Mode

__all__ = ["STAND_INS", "TITLES", "Case", "Data", "Split", "kernel_case", "problem", "split"]

#: What the page calls them.
TITLES = {
    "adult": "Adult",
    "web": "Web",
    "covtype": "Covertype",
    "rcv1": "RCV1 subset",
    "text": "made-up text",
    "reuters": "Reuters",
    "mnist8": "MNIST",
    "digits8": "digits",
}

#: Those that stand in for others, as verdicts name them.
STAND_INS = {
    "text": "on made-up text, not astro-ph",
    "rcv1": "on a part of RCV1",
    "digits8": "on scikit-learn's digits",
}


@dataclass(frozen=True, eq=False)
class Split:
    """Examples to train on, others to test on, labels -1 and 1."""

    name: str
    X: Any
    y: Any
    X_test: Any
    y_test: Any

    def error(self, w: Any) -> float:
        """The share of test examples that the weights get wrong, in percent."""
        return 100 * float(((self.X_test @ w >= 0) != (self.y_test > 0)).mean())


@dataclass(frozen=True, eq=False)
class Case(Data):
    """Data of two classes, with the parameters of a machine with a Gaussian kernel."""

    gamma: float = 1.0
    C: float = 1.0

    @classmethod
    def of(cls, data: Data, gamma: float) -> "Case":
        return cls(data.name, data.X, data.y, data.X_test, data.y_test, gamma)


#: The data of machines with a kernel, and their gamma.
WITH_KERNEL = {"adult": ("adult-single", 0.05), "mnist8": ("mnist8", 0.02)}


@functools.lru_cache(maxsize=2)
def split(name: str, mode: Mode) -> Split:
    """Linear problems of S0 and S2.

    "covtype" is S0's cov1: class 1 against the rest, every column divided by its largest value, so many examples to
    train on as in S0, drawn at random. "rcv1" is a part of RCV1-v2, CCAT against the rest, the last sixth to test on.
    "text" is made up, with the size and the sparsity of astro-ph.
    """
    if mode.smoke:
        X, y = make_text(2_000, 400, mean_length=30, dtype=np.float64, random_state=0)
        train = 1_500
    elif name == "text":
        train = mode(29_882, 8_000, 0)
        X, y = make_text(train + mode(32_487, 4_000, 0), 99_757, dtype=np.float64, random_state=0)
    else:
        raw = _raw(name)
        X, y = raw["X"], np.where(raw["y"] == 1, 1, -1)
        train = len(y) - len(y) // 6
        if name == "covtype":
            order, train = np.random.default_rng(0).permutation(len(y)), 522_911
            X, y = sp.csr_matrix(X[order] / np.abs(X).max(axis=0)), y[order]
    return Split(name, X[:train], y[:train], X[train:], y[train:])


@functools.lru_cache(maxsize=2)
def problem(name: str, mode: Mode) -> Data:
    """Linear problems of S3, and the made-up text beside them."""
    found = load("tiny" if mode.smoke else name)
    if found is None:
        raise Absent("its data are not here; PEGASOS_DATA names their folder")
    return found


@functools.lru_cache(maxsize=2)
def kernel_case(name: str, mode: Mode) -> Case:
    """Problems with a Gaussian kernel, of S0 Table 2 and S4 Table 2, without bias.

    "digits8", the digit 8 against the rest in the 1,797 images of 8 x 8 pixels that scikit-learn has, is in place of
    USPS.
    """
    if mode.smoke:
        return replace(Case.of(dense(150, 20), 0.02), name=name)
    if name == "digits8":
        X, y = load_digits(return_X_y=True)
        X, y = np.ascontiguousarray(X / 16, dtype=np.float32), np.where(y == 8, 1, -1)
        return Case(name, X[:1_257], y[:1_257], X[1_257:], y[1_257:], gamma=0.2)
    if name == "reuters":
        raw = _raw(name)
        X, X_test = (sp.csr_matrix(raw[key], dtype=np.float32) for key in ("X", "X_test"))
        return Case(name, X, raw["y"], X_test, raw["y_test"])
    stored, gamma = WITH_KERNEL[name]
    data = load(stored)
    if data is None:
        raise Absent("its data are not here; PEGASOS_DATA names their folder")
    return replace(Case.of(data.sample(mode(10**9, 3_000, 0)), gamma), name=name)


def _raw(name: str) -> dict[str, Any]:
    found = load_raw(name)
    if found is None:
        raise Absent("its data are not here; PEGASOS_DATA names their folder")
    return found
