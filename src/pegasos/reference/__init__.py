"""The papers' algorithms in a few lines of NumPy each, one module per paper: what the compiled core is tested against.

Readable first. An algorithm takes the rows it visits as an argument (``batches``, one line of row numbers per step, or
``sequence``, one row number per step), so that nothing here is random, and yields where it stands after each step.
"""

from pegasos.reference import chain, dca, interior_point, multiclass, objective, s0, s2, s3, s4, smo

__all__ = ["chain", "dca", "interior_point", "multiclass", "objective", "s0", "s2", "s3", "s4", "smo"]
