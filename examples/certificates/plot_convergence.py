"""
Convergence of solvers
======================

Every fit records two bounds at each check: the objective at its best weights, and a value that the optimum cannot be
below. The optimum lies between them, so the distance tells how far a solver can still be off. No solver can make its
own bound look better than it is: the dual value is computed from the data.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from pegasos import LinearSVC
from pegasos.plot import ConvergenceDisplay

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)

fits = {
    name: LinearSVC(C=0.1, tol=0.001, max_iter=5000, solver=name, random_state=0).fit(X, y)
    for name in ("sdca", "sgd-s", "pegasos")
}
for name, clf in fits.items():
    found = clf.certificate_
    print(f"{name:8} {found.n_iter:6.0f} epochs, the optimum is between {found.dual:.5f} and {found.primal:.5f}")

# %%
# Solid lines are the objective, dashed ones the lower bound; at the right is the gap between them. Coordinate ascent
# (``"sdca"``) takes far fewer epochs here, because it makes an exact step for each example. The gap of the sub-gradient
# methods falls about as one over the number of epochs.

display = ConvergenceDisplay.from_estimators(fits, x="epoch")
for ax in display.ax_:
    ax.set_xscale("log")
