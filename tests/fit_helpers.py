"""Data of each kind, small, and not too easy: fits to it have many checks."""

import numpy as np


def vectors(n_classes=2, n=300, d=6, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, (X @ random.normal(size=(d, n_classes)) + random.normal(size=(n, n_classes))).argmax(axis=1)


def sequences(count=40, seed=0):
    random = np.random.default_rng(seed)
    X = [[[f"w={random.integers(9)}"] for _ in range(5)] for _ in range(count)]
    return X, [[str(random.integers(3)) for _ in range(5)] for _ in range(count)]
