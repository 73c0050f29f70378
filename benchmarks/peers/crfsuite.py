"""CRFsuite: sequences of labels by conditional random fields or online rules, from the same strings of features.

It minimises something else, so that it is to reach our share of right labels, not our objective. Its online rules are
told the number of passes, the others stop by themselves.
"""

import importlib
import os
import tempfile
from typing import Any

from objective import Found, Problem

from peers import Way

PACKAGE = "python-crfsuite"
MODULE = "pycrfsuite"

PASSES = (2, 3, 5, 7, 10, 20, 50, 100)
ONLINE = ("ap", "pa")  # averaged perceptron, passive-aggressive
LIMITS = (10, 20, 50, 100, 200)  # of iterations of L-BFGS


def ways(problem: Problem) -> list[Way]:
    if problem.kind != "sequence":
        return []
    online = [Way(f"CRFsuite, {name}", training(name), PASSES) for name in ONLINE]
    return [*online, Way("CRFsuite, lbfgs", training("lbfgs", c1=0.0, c2=1.0), LIMITS)]


def training(algorithm: str, **options: Any) -> Any:
    def fit(problem: Problem, X: Any, passes: int) -> Found:
        tag = train(X, problem.data.y, algorithm=algorithm, max_iterations=passes, **options)
        return Found(predicted=tag(problem.data.X_test))

    return fit


def train(X: Any, y: Any, *, algorithm: str, **options: Any) -> Any:
    """A function that labels sequences. Handing it the sequences is part of training, and so is writing the model."""
    pycrfsuite = importlib.import_module(MODULE)
    trainer = pycrfsuite.Trainer(algorithm=algorithm, params=options, verbose=False)
    for features, labels in zip(X, y, strict=True):
        trainer.append(features, labels)
    handle, file = tempfile.mkstemp(suffix=".crfsuite")
    os.close(handle)
    trainer.train(file)

    def tag(sequences: Any) -> Any:
        tagger = pycrfsuite.Tagger()
        tagger.open(file)
        os.unlink(file)  # the tagger has read it
        return [tagger.tag(features) for features in sequences]

    return tag
