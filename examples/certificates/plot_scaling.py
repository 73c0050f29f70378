"""
Columns of different size
=========================

One column in other units, and solvers that visit one example at a time have a hard problem. The certificate tells.
``scale=True`` divides each column by its size within the fit; ``coef_`` is for the columns as they were.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from pegasos import LinearSVC

X, y = load_wine(return_X_y=True)
y = y == 0

figure, ax = plt.subplots(figsize=(8, 4))
for scale in (None, "auto"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf = LinearSVC(C=1, solver="sdca", max_iter=2000, scale=scale, random_state=0).fit(X, y)
    ax.loglog(clf.history_["epoch"], clf.history_["gap"], "o-", label=f"scale={scale!r}: {clf.certificate_.reason}")
    print(f"scale={scale!r}: gap {clf.certificate_.gap:.2g}, accuracy {clf.score(X, y):.3f}")
    for warning in caught:
        print(f"  {warning.message}")
ax.axhline(clf.tol, color="black", linestyle=":", label="tol")
ax.set(xlabel="epochs", ylabel="relative duality gap")
ax.legend(frameon=False)
figure.tight_layout()
