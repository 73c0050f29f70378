"""Models and data for tests of reports."""

import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs, make_classification, make_regression

import pegasos
from pegasos import SVC, LinearSVC, LinearSVR, SequenceSVC

#: Names that would do harm on a page if they were not text.
HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    '"><b onclick=alert(3)>',
    "</td>&amp;\0",
)

SENTENCES = [[["w=the"], ["w=old"], ["w=dog"], ["w=saw"], ["w=it"]], [["w=dogs"], ["w=bark"]]] * 3
TAGS = [["B-NP", "I-NP", "I-NP", "O", "B-NP"], ["B-NP", "O"]] * 3


def two_classes():
    X, y = make_classification(300, 8, flip_y=0.2, random_state=0)
    return LinearSVC(C=0.1, solver="pegasos", tol=0.01, random_state=0).fit(X, y), X, y


def three_classes():
    X, y = make_blobs(200, centers=3, cluster_std=3.0, random_state=0)
    y = np.array(["a", "b", "c"])[y]
    return LinearSVC(solver="sdca", random_state=0).fit(X, y), X, y


def kernel():
    X, y = make_classification(150, 4, flip_y=0.1, random_state=0)
    return SVC(random_state=0).fit(X, y), X, y


def values():
    X, y = make_regression(200, 5, noise=10.0, random_state=0)
    return LinearSVR(C=10, epsilon=1.0, solver="sdca", random_state=0).fit(X, y), X, y


def sequences():
    return SequenceSVC(C=1.0, random_state=0).fit(SENTENCES, TAGS), SENTENCES, TAGS


def hostile():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 3)), columns=[HOSTILE[0], HOSTILE[1], "w" * 120])
    y = np.where(X.iloc[:, 0] > 0, HOSTILE[2], HOSTILE[3])
    return LinearSVC(random_state=0).fit(X, y), X, y


CASES = {made.__name__: made for made in (two_classes, three_classes, kernel, values, sequences, hostile)}


def page_of(case, **options):
    """The page on one of the cases."""
    model, X, y = CASES[case]()
    return pegasos.report(model, X, y, **options)
