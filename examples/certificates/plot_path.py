"""
A path along C, and choosing C
==============================

``pegasos.path`` fits many values of ``C``, each from where the last one ended, and certifies every one of them.
``LinearSVCCV`` follows such a path in each fold and chooses ``C`` by the error on what was held out.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

import pegasos
from pegasos.plot import PathDisplay

data = load_breast_cancer()
X, y = scale(data.data), data.target

path = pegasos.path(X, y, Cs=np.geomspace(1e-4, 10, 30), random_state=0)
print(f"{len(path.Cs)} fits, all within tol: {path.converged}")

# %%
# Weights along the path. At its left end all examples have a loss, and the weights are proportional to ``C``. To the
# right the features with the largest weights at the end are named.

figure, ax = plt.subplots(figsize=(8, 4))
largest = np.argsort(-np.abs(path.coefs[-1]))[:5]
for column in range(X.shape[1]):
    named = column in largest
    ax.plot(
        path.Cs,
        path.coefs[:, column],
        color=f"C{list(largest).index(column)}" if named else "0.8",
        label=data.feature_names[column] if named else None,
        zorder=2 if named else 1,
    )
ax.set(xscale="log", xlabel="C", ylabel="weight")
ax.legend(frameon=False, fontsize="small")
figure.tight_layout()

# %%
# Cross-validation, with the rule that takes the smallest ``C`` whose score is within one standard error of the best.

chosen = pegasos.LinearSVCCV(Cs=15, cv=5, rule="one_standard_error", random_state=0).fit(X, y)
print(f"C = {chosen.C_:.3g}, score of the folds {chosen.mean_score_[chosen.Cs_ == chosen.C_][0]:.3f}")
display = PathDisplay.from_estimator(chosen)
