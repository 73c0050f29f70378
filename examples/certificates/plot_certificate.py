"""
The certificate beside the true error
=====================================

The gap bounds how far the objective is above the optimum. Here the optimum is known, from a fit to rounding, so both
can be drawn. The true error is below the gap at every check: the gap counts the error of the lower bound as well.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification

from pegasos import LinearSVC

X, y = make_classification(4000, 40, n_informative=10, flip_y=0.1, random_state=0)
exact = LinearSVC(alpha=1e-3, solver="interior-point", tol=1e-12, random_state=0).fit(X, y)
best = exact.certificate_.primal
print(f"the optimum is between {exact.certificate_.dual:.9f} and {best:.9f}")

solvers = ("sdca", "pegasos", "sgd-s", "norma")
figure, axes = plt.subplots(2, 2, figsize=(8, 6), sharex=True, sharey=True)
for ax, name in zip(axes.flat, solvers, strict=True):
    history = LinearSVC(alpha=1e-3, solver=name, tol=0, max_iter=256, random_state=0).fit(X, y).history_
    error = history["primal"] / best - 1
    ax.loglog(history["epoch"], history["gap"], "o-", markersize=3, label="certified gap")
    ax.loglog(history["epoch"], error, "s-", markersize=3, label="true error")
    ax.fill_between(history["epoch"], error, history["gap"], alpha=0.12)
    ax.set_title(name)
    assert (history["gap"] >= error).all()
axes[0, 0].set_ylim(1e-7, 30)
figure.supxlabel("epochs")
figure.supylabel("relative to the optimum")
axes[0, 0].legend(frameon=False, fontsize="small")
figure.tight_layout()
