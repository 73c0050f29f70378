"""Every estimator at its defaults against the best of a small grid, on real data: processor seconds and score.

``python benchmarks/defaults.py``; ``--only NAME`` for one estimator. Training sets are cut to some thousands of
examples, so that a whole run takes some minutes. The best setting is that with the best score on the test examples, and
of equals (within 0.1%) the fastest: more than anyone could know before, so that the defaults are compared with a bound.
Without the folder of data, scikit-learn's own sets take their place. The score is the accuracy, R^2 in regression, and
F1 of chunks for CoNLL-2000.
"""

import argparse
import functools
import itertools
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from datasets import has_real_data, load_raw
from objective import accuracy
from sequence import load_letters
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from timing import print_machine

from pegasos import SVC, SVR, FeatureMapSVC, LinearSVC, LinearSVCCV, LinearSVR, SequenceSVC
from pegasos.sequence import Template, chunk_scores

Grid = dict[str, Sequence[Any]]

#: Settings of each estimator beside its defaults.
GRIDS: dict[type[Any], Grid] = {
    LinearSVC: {"C": (0.01, 0.1, 1, 10), "loss": ("hinge", "squared_hinge"), "tol": (1e-1, 1e-2, 1e-3)},
    LinearSVR: {"C": (0.01, 0.1, 1, 10), "epsilon": (0.0, 0.1, 0.3), "tol": (1e-1, 1e-3)},
    LinearSVCCV: {"tol": (1e-2, 1e-3), "Cs": (5, 10)},
    SVC: {"C": (1, 10), "gamma": ("scale", 0.01, 0.03), "tol": (1e-1, 1e-2, 1e-3)},
    SVR: {"C": (1, 10), "gamma": ("scale", 0.1, 0.3), "tol": (1e-1, 1e-2, 1e-3)},
    SequenceSVC: {"C": (0.03, 0.1, 0.3, 1), "tol": (0.3, 0.1, 0.03)},
    FeatureMapSVC: {"C": (0.01, 0.1, 1, 10), "tol": (1e-1, 1e-2, 1e-3)},
}


@dataclass(frozen=True, eq=False)
class Task:
    """Examples to train on and others to test on."""

    name: str
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    score: Callable[[Any, Any], float] | None = None  # of labels and predictions; None: the estimator's own
    given: dict[str, Any] = field(default_factory=dict)  # what the estimator must have besides

    def cut(self, rows: int) -> "Task":
        """No more than so many examples to train on, and as many to test on."""
        kept = np.random.default_rng(0).permutation(len(self.y))[:rows]
        tested = np.random.default_rng(1).permutation(len(self.y_test))[:rows]
        return Task(
            self.name,
            _take(self.X, kept),
            _take(self.y, kept),
            _take(self.X_test, tested),
            _take(self.y_test, tested),
            self.score,
        )


def _take(rows: Any, kept: Any) -> Any:
    return [rows[k] for k in kept] if isinstance(rows, list) else rows[kept]


def _split(name: str, X: Any, y: Any) -> Task:
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
    return Task(name, X, y, X_test, y_test)


def _scaled(task: Task) -> Task:
    scaler = StandardScaler().fit(task.X)
    return Task(f"{task.name}, scaled", scaler.transform(task.X), task.y, scaler.transform(task.X_test), task.y_test)


def _given(name: str) -> Task:
    raw = load_raw(name) or {}
    if name == "housing":  # in units of 100,000 dollars, as scikit-learn has them
        return _split(name, raw["X"], raw["y"] / 1e5)
    if "X_test" not in raw:
        return _split(name, raw["X"], raw["y"])
    return Task(name, raw["X"], np.asarray(raw["y"]), raw["X_test"], np.asarray(raw["y_test"]))


def _text(name: str) -> Task:
    raw = _given(name)
    vectorizer = TfidfVectorizer(sublinear_tf=True, dtype=np.float32).fit(raw.X)
    return Task(name, vectorizer.transform(raw.X), raw.y, vectorizer.transform(raw.X_test), raw.y_test)


def _chunking() -> Task:
    raw, template = load_raw("conll2000") or {}, Template.named("chunking")
    X, X_test = template.transform(raw["X"]), template.transform(raw["X_test"])
    return Task("conll2000", X, raw["y"], X_test, raw["y_test"], lambda y, found: chunk_scores(y, found).f1)


def _tagging() -> Task:
    raw, template = load_raw("ud") or {}, Template.named("words")
    X, X_test = (template.transform([[(word,) for word in x] for x in raw[part]]) for part in ("X", "X_test"))
    return Task("ud", X, raw["y"], X_test, raw["y_test"], accuracy)


def _letters(tiny: bool) -> Task:
    X, y, folds = load_letters(tiny) or ([], [], np.empty(0))
    first, others = np.flatnonzero(folds == folds[0]), np.flatnonzero(folds != folds[0])
    return Task("ocr", _take(X, first), _take(y, first), _take(X, others), _take(y, others), accuracy)


def _ordered(x: Any, level: int) -> Any:
    """One weight of each column for all levels, times the level, and a weight for each level."""
    return np.concatenate([level * x, np.eye(5)[level]])


def _separate(x: Any, k: int) -> Any:
    """Weights of each class of its own."""
    return np.kron(np.eye(10)[k], x)


def _levels() -> Task:
    """How far a disease will go, in five levels."""
    X, y = load_diabetes(return_X_y=True)
    task = _scaled(_split("diabetes, five levels", X, np.digitize(y, np.quantile(y, [0.2, 0.4, 0.6, 0.8]))))
    return replace(task, given={"feature_map": _ordered})


def _digits() -> Task:
    X, y = load_digits(return_X_y=True)
    return replace(_split("digits", X / 16, y).cut(500), given={"feature_map": _separate})


def tasks(tiny: bool) -> Iterator[tuple[type[Any], Callable[[], Task]]]:
    """Each estimator with what loads each of its sets."""
    if tiny or not has_real_data():
        digits = functools.partial(_split, "digits", *load_digits(return_X_y=True))
        cancer = functools.partial(_scaled, _split("breast_cancer", *load_breast_cancer(return_X_y=True)))
        diabetes = functools.partial(_scaled, _split("diabetes", *load_diabetes(return_X_y=True)))
        pairs = ((LinearSVC, cancer), (LinearSVC, digits), (LinearSVCCV, cancer), (SVC, digits), (LinearSVR, diabetes))
        yield from (*pairs, (SVR, diabetes), (SequenceSVC, functools.partial(_letters, True)), (FeatureMapSVC, _levels))
        return
    for name in ("adult", "web", "reuters", "rcv1"):
        yield LinearSVC, lambda name=name: _given(name).cut(20_000)
    yield LinearSVC, lambda: _text("newsgroups")
    yield LinearSVC, lambda: _text("debian").cut(10_000)
    yield LinearSVC, lambda: _given("mnist").cut(5_000)
    yield LinearSVC, lambda: _scaled(_given("covtype").cut(20_000))
    yield LinearSVR, lambda: _scaled(_given("housing"))
    for name in ("adult", "reuters"):
        yield LinearSVCCV, lambda name=name: _given(name).cut(5_000)
    yield SVC, lambda: _given("adult").cut(4_000)
    yield SVC, lambda: _given("mnist").cut(4_000)
    yield SVC, lambda: _scaled(_given("covtype").cut(4_000))
    yield SVR, lambda: _scaled(_given("housing").cut(4_000))
    yield SequenceSVC, lambda: _chunking().cut(2_000)
    yield SequenceSVC, lambda: _tagging().cut(2_000)
    yield SequenceSVC, lambda: _letters(False)
    yield FeatureMapSVC, _levels
    yield FeatureMapSVC, _digits


def measure(estimator: type[Any], task: Task, settings: dict[str, Any]) -> tuple[float, float]:
    """Processor seconds and the score."""
    started = time.process_time()
    model = estimator(random_state=0, max_time=30.0, **task.given, **settings)
    model.fit(task.X, task.y)
    spent = time.process_time() - started
    if task.score is None:
        return spent, float(model.score(task.X_test, task.y_test))
    return spent, task.score(task.y_test, model.predict(task.X_test))


def compare(estimator: type[Any], task: Task, tiny: bool) -> str:
    """A line of the table."""
    names, values = list(GRIDS[estimator]), list(GRIDS[estimator].values())
    grid = [dict(zip(names, each, strict=True)) for each in itertools.product(*values)][: 2 if tiny else None]
    default = measure(estimator, task, {})
    found = [(settings, *measure(estimator, task, settings)) for settings in grid]
    most = max(score for *_, score in found)
    best, spent, score = min((one for one in found if one[2] >= most - 0.001), key=lambda one: one[1])
    text = ", ".join(f"{name}={value!r}" for name, value in best.items())
    line = f"| `{estimator.__name__}` | {task.name} | {len(task.y):,} | {default[0]:.2f} | {100 * default[1]:.2f} | "
    return f"{line}{spent:.2f} | {100 * score:.2f} | `{text}` | {default[0] / spent:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small data, to see that it runs")
    parser.add_argument("--only", help="the name of one estimator")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # advice on settings, which are what is measured here
    print_machine()
    print("| estimator | data | examples | default: s | score | best: s | score | setting | ratio of s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for estimator, make_task in tasks(arguments.tiny):
        if arguments.only in (None, estimator.__name__):
            print(compare(estimator, make_task(), arguments.tiny), flush=True)


if __name__ == "__main__":
    main()
