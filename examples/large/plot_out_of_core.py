"""
Data larger than memory
=======================

A data set on disk is a folder of arrays. Where it does not fit into ``memory_limit``, a fit goes by blocks and reads
the next one while it works on the present one. The certificate is that of all examples, as always. The limit is for the
whole process, of which Python and its libraries take some 200 MB before the first example.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import pegasos
from pegasos.datasets import make_text

folder = Path(tempfile.mkdtemp()) / "train.ds"
with pegasos.io.DatasetWriter(folder) as writer:  # piece by piece: never all of it in memory
    for seed in range(6):
        writer.append(*make_text(8000, 5000, random_state=seed))
size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
print(f"{size / 1e6:.0f} MB on disk")

fits = {}
for limit in ("1GB", "225MB"):
    dataset = pegasos.io.open_dataset(folder, memory_limit=limit)
    clf = pegasos.LinearSVC(alpha=1e-6, tol=1e-3, random_state=0).fit(dataset)
    fits[f"memory_limit={limit}"] = clf
    print(f"{limit:5} {clf.certificate_.solver}\n      {clf.n_iter_} epochs, primal {clf.certificate_.primal:.2f}")

# %%
# Both get within ``tol`` of the same optimum, and by blocks in about as many epochs.

figure, ax = plt.subplots(figsize=(8, 4))
for colour, (name, clf) in enumerate(fits.items()):
    history = clf.history_
    ax.plot(history["epoch"], history["primal"], f"C{colour}o-", label=f"{name}: primal")
    ax.plot(history["epoch"], history["dual"], f"C{colour}s--", label=f"{name}: dual")
ax.set(xscale="log", xlabel="epochs", ylabel="objective")
ax.legend(frameon=False, fontsize="small")
figure.tight_layout()
