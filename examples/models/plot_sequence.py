"""
Sequence labelling and transitions
==================================

``SequenceSVC`` labels all positions of a sequence together. Each label has weights for the features of its position,
and one for every label that may follow. Here the days of a made-up diary are told by what was done, and the weather
tends to stay what it is.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from pegasos import LinearSVC, SequenceSVC
from pegasos.plot import TransitionsDisplay

rng = np.random.default_rng(0)
weather = ["rain", "cloud", "sun"]
follows = np.array([[0.8, 0.18, 0.02], [0.12, 0.76, 0.12], [0.02, 0.18, 0.8]])
deeds = ["read", "walk", "shop", "swim", "clean"]
chances = np.array([[0.5, 0.04, 0.12, 0.02, 0.32], [0.1, 0.15, 0.6, 0.05, 0.1], [0.03, 0.45, 0.12, 0.35, 0.05]])


def month():
    state, days, labels = rng.integers(3), [], []
    for _ in range(30):
        state = rng.choice(3, p=follows[state])
        days.append([f"did={deeds[rng.choice(5, p=chances[state])]}"])
        labels.append(weather[state])
    return days, labels


X, y = zip(*(month() for _ in range(120)), strict=True)
model = SequenceSVC(C=0.1, tol=0.01, random_state=0).fit(X[:90], y[:90])
print(model.certificate_)

# %%
# The weights between labels: which weather follows which.

TransitionsDisplay.from_estimator(model)

# %%
# A classifier that looks at one day alone does not know them.


def codes(months):
    return np.array([[f"did={deed}" in day for deed in deeds] for days in months for day in days], dtype=float)


def flat(months):
    return [label for labels in months for label in labels]


alone = LinearSVC(C=0.1, random_state=0).fit(codes(X[:90]), flat(y[:90]))
figure, ax = plt.subplots(figsize=(9, 2.4))
rows = {
    "true": y[91],
    f"in a row ({model.score(X[90:], y[90:]):.0%})": model.predict([X[91]])[0],
    f"day by day ({alone.score(codes(X[90:]), flat(y[90:])):.0%})": alone.predict(codes([X[91]])),
}
picture = [[weather.index(label) for label in labels] for labels in rows.values()]
colours = ListedColormap(["tab:blue", "silver", "tab:orange"])
ax.imshow(picture, cmap=colours, aspect="auto", vmin=0, vmax=2)
ax.legend(handles=[Patch(color=colours(k), label=name) for k, name in enumerate(weather)],
          loc="lower right", bbox_to_anchor=(1, 1), ncols=3, frameon=False)  # fmt: skip
ax.set_yticks(range(3), rows)
ax.set(xlabel="day of a month that was not in the fit")
figure.tight_layout()
