"""Examples in the core's hands: X without a copy, every entry checked."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from pegasos._core import native
from pegasos.io.csr import canonical


def make_rows(X: Any, bias: float, n_jobs: int = 1, rescaled: bool = False) -> tuple[native.Rows, native.RowsFacts]:
    """Hand X to the core without a copy, and check every entry.

    X is a CSR matrix or a C-contiguous array, of float32 or float64; `rescaled` where its columns were divided by
    their sizes, as the weights will be, which rounds them once more.
    """
    if X.shape[0] >= 2**32:
        raise ValueError(f"X has {X.shape[0]} rows; the core counts at most {2**32 - 1}; fit on a part of them")
    rows, facts = check_rows(X, bias, n_jobs, rescaled)
    whole = canonical(X)
    return (rows, facts) if whole is X else check_rows(whole, bias, n_jobs, rescaled)


def bind_rows(X: Any, bias: float = 0.0, rescaled: bool = False) -> native.Rows:
    """X as the core sees it, unchecked but for the length of its row starts."""
    if not sp.issparse(X):
        return native.dense_rows(X, bias, rescaled)
    return native.csr_rows(*csr_arrays(X), X.shape[1], bias, rescaled)


def csr_arrays(X: Any) -> tuple[Any, Any, Any]:
    """Values, columns and row starts of a CSR matrix, the latter two of one type."""
    starts, columns = X.indptr, X.indices
    index = np.int32 if starts.dtype == columns.dtype == np.int32 else np.int64
    if len(starts) != X.shape[0] + 1:
        raise ValueError(f"X is a broken CSR matrix: {len(starts)} row starts for {X.shape[0]} rows; build it anew")
    as_index = functools.partial(np.ascontiguousarray, dtype=index)
    return np.ascontiguousarray(X.data), as_index(columns), as_index(starts)


def check_rows(
    X: Any, bias: float = 0.0, n_jobs: int = 1, rescaled: bool = False
) -> tuple[native.Rows, native.RowsFacts]:
    """X as the core sees it; a ValueError where an entry is not finite or a CSR matrix reaches out of its bounds."""
    rows = bind_rows(X, bias, rescaled)
    facts = native.inspect(rows, native.Run(n_jobs=n_jobs))
    if facts.bad_structure >= 0:
        raise ValueError(
            f"X is a broken CSR matrix: row {facts.bad_structure} has column numbers or an extent out of bounds; "
            "X.check_format(full_check=True) tells more"
        )
    if facts.not_finite >= 0:
        explain_not_finite(X, facts.not_finite)
    if facts.canonical and sp.issparse(X):
        X.has_canonical_format = True  # spare SciPy the search
    return rows, facts


def check_scores(X: Any, scores: Any) -> None:
    """Raise a ValueError where scores of X are not finite. A row with an entry that is not finite has no finite score,
    so a pass over X to find one is not needed."""
    wrong = np.flatnonzero(~np.isfinite(scores).all(axis=1))
    if len(wrong):
        explain_not_finite(X, int(wrong[0]))


def explain_not_finite(X: Any, row: int) -> NoReturn:
    """Raise the error that says which entry of the row is not finite."""
    values = X[[row]].toarray()[0] if sp.issparse(X) else X[row]
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong) == 0:
        raise ValueError(f"X has values so large in row {row} that sums of their products overflow; scale the features")
    raise NotFinite("NaN" if np.isnan(values[wrong[0]]) else "infinity", row, int(wrong[0]))


class NotFinite(ValueError):
    """An entry of X is not finite. Its column is a number, or where it has a name that."""

    def __init__(self, value: str, row: int, column: int | str) -> None:
        super().__init__(value, row, column)

    def __str__(self) -> str:
        value, row, column = self.args
        return (
            f"Input X contains {value}: row {row}, column {column!r}. Impute such entries "
            "(sklearn.impute.SimpleImputer) or drop the rows"
        )


@contextmanager
def naming_columns(estimator: Any) -> Iterator[None]:
    """Errors on entries that are not finite have the name of the column, where the estimator knows it."""
    try:
        yield
    except NotFinite as error:
        value, row, column = error.args
        names = vars(estimator).get("feature_names_in_")
        if names is not None and not isinstance(column, str):
            error = NotFinite(value, row, str(names[column]))
        raise ValueError(str(error)) from None  # by the name that people know
