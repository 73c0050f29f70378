"""What the tables of S3 measure: how long a method takes to come within 1% of the optimum, in passes and seconds."""

import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from objective import Found, Problem, evaluate
from peers import TOLERANCES
from sklearn.svm import LinearSVC as Liblinear

from pegasos import LinearSVC
from reproduce.common.data import Data, problem
from reproduce.common.experiment import FAILED, NOT_RUN, REPRODUCED, WITH_A_DIFFERENCE, Claim, Mode, judged, solver

__all__ = [
    "DATA",
    "LEVEL",
    "RULES",
    "TARGET",
    "by_tolerance",
    "fit",
    "known_optimum",
    "liblinear",
    "order_claim",
    "other_rows",
    "passed",
    "passes_claim",
    "passes_of",
    "passes_to",
    "seconds",
    "seconds_of",
    "setting_to",
    "side",
    "spread",
    "stochastic",
]

DATA = {"adult": "Adult", "web": "Web", "covtype": "Covertype"}
NOT_HERE = ("Physics", "Realsim", "News20", "Webspam", "C11", "CCAT")
TARGET = 0.01
FACTOR = 1.6  # passes within this factor agree
LEVEL = 1.25  # times within this factor are a tie
SHOWN = {"sgd-s": "SGD-s", "sgd-m": "SGD-m", "sgd-r": "SGD-r", "pegasos": "Pegasos"}


def other_rows() -> Claim:
    return Claim(f"The rows {', '.join(NOT_HERE)}", "", "", NOT_RUN, "these data are missing here")


def fit(of: Data, C: float, how: Any, seed: int = 0, tol: float = 0.0, **budget: Any) -> tuple[LinearSVC, float]:
    """A fit without intercept, and its processor seconds."""
    started = time.process_time()
    terms = {"max_iter": 10**9, "n_jobs": 1, **budget}
    model = LinearSVC(C=C, fit_intercept=False, solver=how, tol=tol, random_state=seed, **terms).fit(of.X, of.y)
    return model, time.process_time() - started


def known_optimum(name: str, C: float, mode: Mode, tol: float = 1e-5) -> dict[str, float]:
    found = fit(problem(name, mode), C, "auto", 12345, tol, max_time=900.0)[0].certificate_
    return {"primal": found.primal, "dual": found.dual, "n": len(problem(name, mode).y)}


def stochastic(
    name: str, C: float, method: str, best: Mapping[str, float], expected: int, mode: Mode
) -> dict[str, Any]:
    """Passes of SGD-s or SGD-m to the target, from several seeds, and the bound `J/L - 1` then.

    One run for each seed is enough, as it evaluates the objective after every pass: f is so large that S3's free
    estimate of the objective always looks promising, and tol so small that none of these checks ends the run.
    """
    of = problem(name, mode)
    passes, gaps = [], []
    at_most = math.ceil(4 * expected + 5)
    for seed in range(mode(3, 1, 1)):
        budget = math.ceil(1.2 * max([expected, *passes]) + 1)
        while True:
            trace = fit(
                of, C, solver(method, check_factor=1e300), seed, 1e-12, max_iter=min(budget, at_most), n_jobs=-1
            )[0].history_
            hits = np.flatnonzero(trace["primal"] <= (1 + TARGET) * best["dual"])
            if len(hits) or budget >= at_most:
                break
            budget = math.ceil(1.5 * budget)
        if len(hits):
            passes.append(float(trace["epoch"][hits[0]]))
            gaps.append(float(trace["gap"][hits[0]]))
    known = {"each": sorted(passes), "seeds": mode(3, 1, 1), "tried": at_most}
    if not passes:
        return {"passes": None, **known}
    return {"passes": statistics.median(passes), "eps": statistics.median(gaps), **known}


def ladder(most: int, factor: float = 1.2) -> list[int]:
    """Numbers of passes to try."""
    return sorted({round(factor**k) for k in range(math.ceil(math.log(most, factor)) + 1)})


def setting_to(
    of: Data, C: float, best: Mapping[str, float], tries: Iterable[tuple[float, Callable[[Data], Any]]]
) -> dict[str, Any]:
    """The first of the tries whose weights are within the target: its setting, and how near it is."""
    setting = 0.0
    for setting, attempt in tries:
        off = excess(of, C, attempt(of), best)
        if off <= TARGET:
            return {"setting": setting, "excess": off}
    return {"setting": None, "tried": setting}


def seconds_of(runs: Mapping[str, Callable[[], Any]], rounds: int = 3, long: float = 60.0) -> dict[str, list[float]]:
    """Processor seconds of each, in rounds of all; one round, where it takes long."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, work in runs.items():
            started = time.process_time()
            work()
            times[name].append(time.process_time() - started)
        if sum(sum(one) for one in times.values()) > long:
            break
    return times


def passes_to(
    of: Data, C: float, method: str, best: Mapping[str, float], most: int, seeds: int, **options: Any
) -> dict[str, Any]:
    """Passes of a solver without a stopping rule to the target, the median of several seeds.

    Of each seed it is the first of a series of budgets, each 1.2 times the one before. A seed that does not get there
    counts as more than all others.
    """
    each = []
    for seed in range(seeds):
        hits = (k for k in ladder(most) if excess(of, C, passed(of, C, method, k, seed, **options), best) <= TARGET)
        each.append(next(hits, math.inf))
    each.sort()
    middle = statistics.median(each)
    found = [float(one) for one in each if one < math.inf]
    return {"passes": middle if middle < math.inf else None, "each": found, "seeds": seeds, "tried": ladder(most)[-1]}


def passed(of: Data, C: float, method: str, passes: float, seed: int = 0, **options: Any) -> Any:
    """The weights after so many passes."""
    return fit(of, C, solver(method, **options), seed, max_iter=round(passes))[0].coef_[0]


def excess(of: Data, C: float, w: Any, best: Mapping[str, float]) -> float:
    """How far the weights are above the optimum, relative to it."""
    return evaluate(Problem(of, "hinge", C), Found(w)) / best["dual"] - 1


def by_tolerance(
    C: float, method: str, tolerances: Sequence[float] = TOLERANCES, max_time: float = 120.0, **options: Any
) -> Iterator[tuple[float, Callable[[Data], Any]]]:
    """Tighter and tighter tolerances of a solver with a stopping rule."""
    for tol in tolerances:
        how = solver(method, **options)
        yield tol, lambda of, tol=tol, how=how: fit(of, C, how, tol=tol, max_time=max_time)[0].coef_[0]


def liblinear(C: float, tolerances: Sequence[float] = TOLERANCES) -> Iterator[tuple[float, Callable[[Data], Any]]]:
    """The same of LIBLINEAR's dual coordinate descent, S3's DCD."""
    for tol in tolerances:
        model = Liblinear(C=C, loss="hinge", dual=True, fit_intercept=False, tol=tol, max_iter=10_000, random_state=0)
        yield tol, lambda of, model=model: model.fit(of.X, of.y).coef_[0]


def passes_of(run: Mapping[str, Any] | None) -> float | None:
    return None if run is None else run["passes"]


def spread(run: Mapping[str, Any]) -> str:
    """The least and the most of the seeds, where there are several."""
    each = [f"{one:g}" for one in run["each"]] + ["more"] * (run["seeds"] - len(run["each"]))
    return f" ({each[0]} to {each[-1]})" if len(set(each)) > 1 else ""


def passes_claim(
    found: Mapping[str, Any], name: str, method: str, published: int, eps: float | None, key: str, reason: str = ""
) -> Claim:
    """As many passes as published, within a factor of 1.6 or two passes, both ways; else the ratio, and the reason."""

    def judge(result: Mapping[str, Any]) -> tuple[str, str, str]:
        passes = passes_of(result)
        if passes is None:
            least = f"{result['each'][0]:g} by the luckiest seed; " if result["each"] else ""
            told = f"{least}the median seed is not within 1% after {result['tried']:g} passes"
            return "", FAILED, f"{told}; {reason}" if reason else told
        bound = f", bound {result['eps']:.3f}" if "eps" in result else ""
        measured = f"{passes:g} passes{spread(result)}{bound}"
        if 1 / FACTOR <= passes / published <= FACTOR or abs(passes - published) <= 2:
            return measured, REPRODUCED, ""
        told = f"{passes / published:.2g} times as many"
        return measured, FAILED, f"{told}; {reason}" if reason else told

    told = f"{published} passes" + (f", bound {eps:g}" if eps else "")
    return judged(found, [key], f"{SHOWN.get(method, method)}: passes to 1%, {DATA[name]}", told, judge)


def side(first: Sequence[float], second: Sequence[float]) -> int:
    """-1 if the first takes less time, 1 if it takes more, 0 for a tie.

    Times are level within a factor of 1.25, or if the rounds of one are among those of the other.
    """
    ratio = statistics.median(first) / statistics.median(second)
    if 1 / LEVEL <= ratio <= LEVEL or (min(first) <= max(second) and min(second) <= max(first)):
        return 0
    return -1 if ratio < 1 else 1


def order_claim(
    found: Mapping[str, Any], name: str, published: Mapping[str, float], first: str, second: str, stated: bool = False
) -> Claim:
    """Which of two methods takes longer, by times of one call; the published times say what S3 saw on these data.

    `stated`: S3 says in words that the first is faster on all data, however little that is.
    """
    before, after = published[first], published[second]

    def judge(times: Mapping[str, Sequence[float]], *runs: Mapping[str, Any]) -> tuple[str, str, str]:
        measured = ", ".join(seconds(times.get(method)) for method in (first, second))
        lost = [method for method, run in zip((first, second), runs, strict=True) if setting_of(run) is None]
        if lost:
            return measured, FAILED, f"{' and '.join(lost)} did not come within 1%"
        if first not in times or second not in times:
            return "", NOT_RUN, "they were not timed in one call"
        ratio, theirs = statistics.median(times[first]) / statistics.median(times[second]), before / after
        ours, known = side(times[first], times[second]), -1 if stated else side([before], [after])
        told = f"{ratio:.2g} times the time, {theirs:.2g} in S3"
        if ours == known:
            return measured, REPRODUCED, "a tie in S3 and here" if not known else ""
        if ours == 0:
            return measured, WITH_A_DIFFERENCE if 1 / 2 <= theirs <= 2 else FAILED, f"a tie here: {told}"
        if known == 0:
            return measured, WITH_A_DIFFERENCE if 1 / 2 <= ratio <= 2 else FAILED, f"a tie in S3: {told}"
        return measured, FAILED, told

    text = f"{first} is faster than {second}" if stated else f"Which of {first} and {second} takes longer"
    text = f"{text}, {DATA[name]}"
    needs = [f"{name}/{what}" for what in ("times", first, second)]
    return judged(found, needs, text, f"{before:g} s, {after:g} s", judge)


def setting_of(run: Mapping[str, Any]) -> float | None:
    """Passes, or the tolerance of a method with one, that came within the target."""
    return run["passes"] if "passes" in run else run["setting"]


def seconds(times: Sequence[float] | None) -> str:
    return f"{statistics.median(times):.2g} s" if times else "not within 1%"


#: What the page says of these rules.
RULES = (
    f"Passes agree within a factor of {FACTOR:g}, or within two passes. Times are processor seconds of one fit by one "
    "thread, validation included, medians of three rounds in one call, in which the methods take turns, or of one "
    f"round if it takes over a minute. Times within a factor of {LEVEL:g}, or whose rounds overlap, are a tie. Passes "
    "and tolerances do not depend on the machine; all times of a data set are of one."
)
