"""The papers' algorithms in a few lines of NumPy each, one module per paper: what the compiled core is tested against.

Readable first. An algorithm takes the rows it visits as an argument (``batches``, one line of row numbers per step),
so that nothing here is random, and yields its iterates w_1, w_2, ..., w_{T+1}.
"""

from pegasos.reference import objective, s0, s2

__all__ = ["objective", "s0", "s2"]
