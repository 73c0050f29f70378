"""
Warm starts and checkpoints
===========================

With ``warm_start=True`` a fit continues from the dual point of the last one. That saves epochs when examples are added,
or when ``C`` changes a little. The certificate is computed anew, so a bad start costs time and never truth.
"""

import tempfile
import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification

from pegasos import LinearSVC

X, y = make_classification(10_000, 100, n_informative=20, flip_y=0.1, random_state=0)
sizes = range(9000, 10_001, 100)
options = {"C": 0.05, "solver": "sdca", "tol": 1e-3}

warm = LinearSVC(warm_start=True, random_state=0, **options)
epochs = {"new start": [], "warm start": []}
for size in sizes:
    epochs["warm start"].append(warm.fit(X[:size], y[:size]).n_iter_)
    epochs["new start"].append(LinearSVC(random_state=0, **options).fit(X[:size], y[:size]).n_iter_)

figure, ax = plt.subplots(figsize=(8, 3.8))
for name, counts in epochs.items():
    ax.plot(sizes, counts, "o-", label=name)
ax.set(xlabel="examples, 100 more each time", ylabel=f"epochs to a gap of {warm.tol:g}", ylim=(0, None))
ax.legend(frameon=False)
figure.tight_layout()

# %%
# A fit that is killed goes on too, if it has a checkpoint. Here ``max_time`` ends it; the second call goes on from the
# folder, and ends with the same bits as a fit that was never ended.

folder = tempfile.mkdtemp()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the fit that falls short
    first = LinearSVC(checkpoint=folder, max_time=0.02, random_state=0, **options).fit(X, y)
second = LinearSVC(checkpoint=folder, random_state=0, **options).fit(X, y)
never = LinearSVC(random_state=0, **options).fit(X, y)
print(f"ended by {first.certificate_.reason} with a gap of {first.certificate_.gap:.2g}")
print(f"then by {second.certificate_.reason}; the same bits: {bool((second.coef_ == never.coef_).all())}")
