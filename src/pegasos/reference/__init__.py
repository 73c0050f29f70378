"""The papers' algorithms in a few lines of NumPy each, one module per paper: what the compiled core is tested against.

Readable first. An algorithm takes the rows it visits as an argument (``batches``, one line of row numbers per step, or
``sequence``, one row number per step), so that nothing here is random, and yields where it stands after each step.

Arguments that most have are the same everywhere: X of shape (m, d) has the rows x_i, y their labels, +1 or -1, and s
their weights, all 1 when not given. C is what a unit of loss costs, `lam` the papers' λ, and K of shape (m, m) a kernel
matrix. `batches` of shape (T, k) has the row numbers of A_1, ..., A_T, `sequence` of shape (T,) those of single visits.
`project` tells whether every step ends with the projection onto the ball of radius 1/sqrt(λ).
"""

from pegasos.reference import (
    bottou,
    chain,
    dca,
    interior_point,
    lasvm,
    mpu,
    multiclass,
    newton,
    objective,
    ocas,
    s0,
    s2,
    s3,
    s4,
    simba,
    smo,
)

__all__ = [
    "bottou",
    "chain",
    "dca",
    "interior_point",
    "lasvm",
    "mpu",
    "multiclass",
    "newton",
    "objective",
    "ocas",
    "s0",
    "s2",
    "s3",
    "s4",
    "simba",
    "smo",
]
