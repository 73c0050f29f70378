"""Whether a kernel is positive semi-definite, which its certificate rests on."""

import math
from dataclasses import dataclass

import numpy as np

from pegasos.kernel.kernels import ROUNDING, Floats, Kernel, PointKernel

#: Rows up to which all of a kernel matrix is looked at for negative eigenvalues; of the part where there are more.
SMALL, SAMPLE = 2000, 500
#: Seconds that all eigenvalues of a matrix take, over the cube of its rows; the share of the time left that they may.
EIGENVALUES_SECONDS, EIGENVALUES_SHARE = 1e-10, 0.25


@dataclass(frozen=True)
class Definiteness:
    """What is known of the eigenvalues of a kernel matrix, and what a lower bound must allow for.

    A bound on the objectives of machines whose coefficients beta are within the bounds of the dual needs
    ``beta' K beta >= -shift ||beta||^2`` and ``|K - K'| <= asymmetry`` besides a dual point.
    """

    indefinite: bool = False  # it is known to have a negative eigenvalue that is no rounding
    assumed: bool = False  # it has more rows than are looked at
    shift: float = 0.0
    asymmetry: float = 0.0


def definiteness(kernel: Kernel, seed: int, seconds: float = math.inf) -> Definiteness:
    """Look at the kernel matrix where its kind does not tell; of many rows, or where that might take a large share of
    the `seconds` that are left, at a random part."""
    if isinstance(kernel, PointKernel) and kernel.is_definite:
        return Definiteness()
    diagonal = kernel.diagonal()
    if diagonal.min() < 0:
        return Definiteness(indefinite=True)
    rows = np.arange(len(diagonal))
    long = EIGENVALUES_SECONDS * len(rows) ** 3 > EIGENVALUES_SHARE * seconds
    assumed = len(rows) > (SAMPLE if long else SMALL)
    if assumed:
        rows = np.sort(np.random.default_rng(seed).choice(rows, SAMPLE, replace=False))
    square = kernel.square(rows)
    asymmetry = float(np.abs(square - square.T).max())
    if asymmetry > ROUNDING * np.abs(square).max():
        raise ValueError("the kernel is not symmetric: it has another value for (x, z) than for (z, x)")
    shift = _negative_part((square + square.T) / 2)
    if shift is None:
        return Definiteness(indefinite=True)
    if isinstance(kernel, PointKernel):  # the core's values differ from these
        shift += len(rows) * 1e-13 * max(float(np.abs(square).max()), 1.0)
    return Definiteness(False, assumed, shift, asymmetry)


def _negative_part(K: Floats) -> float | None:
    """At least by how much the lowest eigenvalue of a symmetric matrix is below zero; None where it is no rounding.

    All eigenvalues take twenty times as long as two looks that mostly tell. Eigenvalues of a few rows lie between those
    of all. And Cholesky's factor of K + s, where there is one, is that of a matrix near it, which is definite:
    it differs by at most (n + 1) units of the trace (N. Higham, Accuracy and Stability of Numerical Algorithms, 10.3).
    """
    n, unit, trace = len(K), float(np.finfo(np.float64).eps), float(np.trace(K))
    highest = float(np.abs(K).sum(axis=0).max())  # or less
    if n > SAMPLE and float(np.linalg.eigvalsh(K[:SAMPLE, :SAMPLE])[0]) < -1e-6 * highest:
        return None
    rounding = 2 * (n + 1) * unit * trace
    shifted = K.copy()
    shifted[np.diag_indices(n)] += rounding
    try:
        np.linalg.cholesky(shifted)
        return 2 * rounding
    except np.linalg.LinAlgError:
        values = np.linalg.eigvalsh(K)
    lowest, highest = float(values[0]), max(float(values[-1]), 0.0)
    return None if lowest < -1e-6 * highest else max(unit * n * highest - lowest, 0.0)
