"""
Approximate kernels: random features
====================================

A Gaussian kernel can be approximated by random features, and a linear machine over those is fast for any number of
examples. Each of the two fits is certified; what the approximation loses shows in the accuracy.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from pegasos import SVC, LinearSVC

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0, test_size=0.4)
gamma = 0.5

exact = SVC(gamma=gamma, C=10, random_state=0).fit(X_train, y_train).score(X_test, y_test)
linear = LinearSVC(C=1, random_state=0).fit(X_train, y_train).score(X_test, y_test)

sizes = [20, 50, 100, 200, 400, 800]
figure, ax = plt.subplots(figsize=(8, 4))
for make in (RBFSampler, Nystroem):
    scores = []
    for size in sizes:
        features = make(gamma=gamma, n_components=size, random_state=0)
        model = make_pipeline(features, LinearSVC(C=10, random_state=0)).fit(X_train, y_train)
        scores.append(model.score(X_test, y_test))
    ax.plot(sizes, scores, "o-", label=f"{make.__name__}, then LinearSVC")
ax.axhline(exact, color="black", linestyle="--", label="SVC, the kernel itself")
ax.axhline(linear, color="black", linestyle=":", label="LinearSVC, without a kernel")
ax.set(xscale="log", xlabel="features", ylabel="accuracy on other examples")
ax.legend(frameon=False, fontsize="small")
figure.tight_layout()
