"""
Quantile regression: a band that holds nine of ten
==================================================

``loss="quantile"`` predicts a number that a given share of the targets is below. Two of them make a band. ``SVR`` has
it with a kernel, so the band may bend and widen.
"""

import matplotlib.pyplot as plt
import numpy as np

from pegasos import SVR

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 10, 400))
y = np.sin(x) * 2 + rng.normal(0, 0.2 + 0.12 * x)
grid = np.linspace(0, 10, 200)

figure, ax = plt.subplots(figsize=(8, 4))
ax.scatter(x, y, s=8, color="0.5")
bands = {}
for share in (0.05, 0.5, 0.95):
    reg = SVR(loss="quantile", quantile=share, gamma=0.3, C=2.0).fit(x[:, None], y)
    bands[share] = reg.predict(grid[:, None])
    below = (y < reg.predict(x[:, None])).mean()
    ax.plot(grid, bands[share], color="C0", linewidth=2 if share == 0.5 else 1)
    print(f"quantile {share}: {below:.1%} of the targets are below, gap {reg.certificate_.gap:.1e}")
ax.fill_between(grid, bands[0.05], bands[0.95], alpha=0.15, color="C0")
ax.set(xlabel="x", ylabel="y", title="the median, and the band from 5% to 95%")
figure.tight_layout()
