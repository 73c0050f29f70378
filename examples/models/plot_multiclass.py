"""
Several classes: one against the rest, or jointly
=================================================

With more than two classes each is trained against the rest, or all in one problem: ``multi_class="joint"``, the machine
of Crammer and Singer. A class between two others shows the difference: no straight line tells it from the rest, but
the highest of three scores can.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs
from sklearn.inspection import DecisionBoundaryDisplay

from pegasos import LinearSVC

X, y = make_blobs(300, centers=[[-3, 0], [0, 0.3], [3, 0]], cluster_std=0.6, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.6))
for ax, way in zip(axes, ("ovr", "joint"), strict=True):
    clf = LinearSVC(multi_class=way, C=1, random_state=0).fit(X, y)
    DecisionBoundaryDisplay.from_estimator(
        clf, X, response_method="predict", plot_method="pcolormesh", alpha=0.3, ax=ax, multiclass_colors="viridis"
    )
    ax.scatter(*X.T, c=y, s=12, edgecolors="black", linewidths=0.4, cmap="viridis")
    ax.set(title=f'multi_class="{way}": {clf.score(X, y):.1%} right', xticks=[], yticks=[])
    print(f"{way:5} gap {clf.certificate_.gap:.1e}, certificates of parts: {len(clf.certificate_.parts)}")
figure.tight_layout()

# %%
# ``cost`` says what each mistake costs. Here the middle class must not be missed: taking it for another costs ten.

cost = [[0, 1, 1], [10, 0, 10], [1, 1, 0]]
X, y = make_blobs(300, centers=[[-2, 0], [0, 0.3], [2, 0]], cluster_std=0.9, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.6))
for ax, costs in zip(axes, (None, cost), strict=True):
    clf = LinearSVC(multi_class="joint", cost=costs, C=1, random_state=0).fit(X, y)
    DecisionBoundaryDisplay.from_estimator(
        clf, X, response_method="predict", plot_method="pcolormesh", alpha=0.3, ax=ax, multiclass_colors="viridis"
    )
    ax.scatter(*X.T, c=y, s=12, edgecolors="black", linewidths=0.4, cmap="viridis")
    missed = ((y == 1) & (clf.predict(X) != 1)).sum()
    ax.set(title=f"{'all mistakes alike' if costs is None else 'with costs'}: {missed} missed", xticks=[], yticks=[])
figure.tight_layout()
