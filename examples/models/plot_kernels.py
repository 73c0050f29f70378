"""
Decision boundaries with kernels
================================

``SVC`` takes the kernels of scikit-learn's, and functions of yours as well. Circles are the support vectors; the
two strong colours are beyond the margin, the two weak ones within it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from pegasos import SVC

X, y = make_moons(200, noise=0.22, random_state=0)

machines = {
    "linear": SVC(kernel="linear", C=1),
    "poly, degree 3": SVC(kernel="poly", degree=3, coef0=1, C=1),
    "rbf, gamma 1": SVC(gamma=1, C=1),
    "rbf, gamma 30": SVC(gamma=30, C=1),
}
figure, axes = plt.subplots(2, 2, figsize=(8, 6.4))
for ax, (name, clf) in zip(axes.flat, machines.items(), strict=True):
    clf.fit(X, y)
    DecisionBoundaryDisplay.from_estimator(
        clf, X, response_method="decision_function", plot_method="contourf", ax=ax, alpha=0.5,
        levels=[-1e3, -1, 0, 1, 1e3], colors=["#7b9ff9", "#c9d7f0", "#f2cbb7", "#ee8468"], grid_resolution=120,
    )  # fmt: skip
    ax.scatter(*X.T, c=y, cmap="coolwarm", s=12, edgecolors="black", linewidths=0.4)
    ax.scatter(*clf.support_vectors_.T, facecolors="none", edgecolors="black", s=50, linewidths=0.6)
    ax.set_title(f"{name}: {clf.n_support_.sum()} supports, gap {clf.certificate_.gap:.0e}", fontsize="medium")
    ax.set(xticks=[], yticks=[])
figure.tight_layout()

# %%
# A small ``gamma`` makes the kernel wide and the boundary smooth. With a large one every example has an island of its
# own: most of them are support vectors, and the fit says little about other examples.
