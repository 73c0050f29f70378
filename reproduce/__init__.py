"""The tables and figures of the papers S0, S2, S3 and S4, made again: ``python -m reproduce``.

One module for each table or figure. What it measures is stored in ``reproduce/results``, and `docs/reproduction.md` is
made of that.
"""

import sys
from pathlib import Path

# Problems, cases and certified optima are those of the benchmarks.
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
