"""
Listening to a fit, and ending it early
=======================================

``pegasos.listen`` calls a function at each check of a fit. It can look at the weights as they are, and end the fit.
Here it follows the accuracy on other examples, which is at its best long before the objective is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

import pegasos

X, y = make_classification(3000, 60, n_informative=5, class_sep=1.5, flip_y=0.1, random_state=5)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
seen = []


def note(check):
    weights = check.weights()
    right = (X_test @ weights["coef_"][0] + weights["intercept_"][0] > 0) == y_test
    seen.append((check.epoch, check.gap, right.mean()))


with pegasos.listen(note):
    clf = pegasos.LinearSVC(alpha=0.02, solver="pegasos", tol=1e-3, random_state=0).fit(X_train, y_train)

epochs, gaps, scores = np.transpose(seen)
figure, ax = plt.subplots(figsize=(8, 3.8))
ax.loglog(epochs, gaps, "o-", color="C0", markersize=3)
ax.set(xlabel="epochs", ylabel="relative duality gap")
ax.yaxis.label.set_color("C0")
beside = ax.twinx()
beside.plot(epochs, scores, "s-", color="C3", markersize=3)
beside.set_ylabel("accuracy on other examples", color="C3")
figure.tight_layout()

# %%
# ``check.stop()`` ends the fit there. The certificate is still true, and says why the fit ended.


def soon(check):
    if check.gap < 0.05:
        check.stop()


with pegasos.listen(soon):
    early = pegasos.LinearSVC(alpha=0.02, solver="pegasos", tol=1e-3, random_state=0).fit(X_train, y_train)
print(early.certificate_)
print(f"accuracy {early.score(X_test, y_test):.3f}, and {clf.score(X_test, y_test):.3f} at the end")
