"""
Learning from a stream with partial_fit
=======================================

``partial_fit`` learns from examples as they come and forgets them. ``progressive_`` compares each with what was
predicted for it before it was learned from: an honest estimate, which needs no examples held out.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from pegasos import LinearSVC

X, y = make_classification(40_000, 30, n_informative=10, flip_y=0.05, random_state=3)
solvers = {"pegasos": LinearSVC(alpha=1e-4, random_state=0), "adagrad": LinearSVC(solver="adagrad", random_state=0)}

figure, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
for name, clf in solvers.items():
    met, errors = [], []
    for start in range(0, len(y), 500):
        part = slice(start, start + 500)
        clf.partial_fit(X[part], y[part], classes=[0, 1])
        met.append(clf.progressive_.n_rows)
        errors.append(clf.progressive_.error)
    met, errors = np.array(met), np.array(errors)
    lately = np.diff(errors * met, prepend=0) / np.diff(met, prepend=0)  # of each part by itself
    (line,) = ax.plot(met, errors, label=f"{name}, from the start")
    ax.plot(met, lately, ".", color=line.get_color(), alpha=0.4, label=f"{name}, each 500 examples")

best = LinearSVC(alpha=1e-4, random_state=0).fit(X, y)
ax.axhline(1 - best.score(X, y), color="black", linestyle=":", label="a fit to all of them at once")
ax.set(xscale="log", xlabel="examples met", ylabel="share of wrong predictions")
figure.legend(frameon=False, fontsize="small", loc="outside lower center", ncols=3)

# %%
# A bound remains of the certificate: no weights have a lower objective on the examples met than ``lower_bound_``.

clf = solvers["pegasos"]
print(f"at least {clf.lower_bound_:.4f}; the optimum is {best.certificate_.primal * best.alpha:.4f}")
