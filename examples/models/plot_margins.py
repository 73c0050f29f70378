"""
Margins and support vectors
===========================

With the hinge loss only examples with a margin of at most 1 pull at the weights: the support vectors. All others could
be left out, and the fit would be the same. A larger ``C`` makes the margin narrower, and the support vectors fewer.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from pegasos import LinearSVC
from pegasos.plot import MarginDisplay

X, y = make_blobs(160, centers=[[-1.2, -1], [1.2, 1]], cluster_std=1.0, random_state=2)

figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.5), sharex=True, sharey=True)
line = np.array([-4.5, 4.5])
for ax, C in zip(axes, (0.005, 0.05, 5), strict=True):
    clf = LinearSVC(C=C, intercept="free", random_state=0).fit(X, y)
    (w1, w2), b = clf.coef_[0], clf.intercept_[0]
    margins = np.where(y == 1, 1, -1) * clf.decision_function(X)
    support = margins <= 1 + 1e-6
    ax.scatter(*X[~support].T, c=y[~support], cmap="coolwarm", vmin=0, vmax=1, s=14, alpha=0.5)
    ax.scatter(*X[support].T, c=y[support], cmap="coolwarm", vmin=0, vmax=1, s=30, edgecolors="black")
    for level, style in ((-1, "--"), (0, "-"), (1, "--")):
        ax.plot(line, (level - b - w1 * line) / w2, style, color="black", linewidth=1)
    ax.set(title=f"C = {C:g}: {support.sum()} supports", xlim=(-4.5, 4.5), ylim=(-4, 4))
figure.tight_layout()

# %%
# Leaving out the examples beyond the margin changes nothing but rounding and what ``tol`` allows:

clf = LinearSVC(C=0.05, intercept="free", tol=1e-9, random_state=0).fit(X, y)
near = np.where(y == 1, 1, -1) * clf.decision_function(X) <= 1 + 1e-6
again = LinearSVC(C=0.05, intercept="free", tol=1e-9, random_state=0).fit(X[near], y[near])
print(f"{near.sum()} of {len(y)} examples, weights differ by {np.abs(again.coef_ - clf.coef_).max():.1e}")

# %%
# In more dimensions a histogram shows the same.

display = MarginDisplay.from_estimator(clf, X, y)
