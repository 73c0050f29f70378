"""S3 Table 8: SvmSgd, SGD-QN, SGD-m and MPU in single precision to 1% of the optimum, C = 1."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from reproduce.common.experiment import (
    FAILED,
    REPRODUCED,
    WITH_A_DIFFERENCE,
    Claim,
    Experiment,
    Job,
    Mode,
    Report,
    Table,
    judged,
    main,
)
from reproduce.common.passes import DATA, by_passes, by_tolerance, known_optimum, other_rows, passes_claim, seconds_to
from reproduce.common.s3_sgd import cell, passes_of

C = 1.0
METHODS = {"SvmSgd": "svm-sgd", "SGD-QN": "sgd-qn", "SGD-m": "sgd-m", "MPU": "mpu"}
#: Passes, where they are told, and seconds.
PUBLISHED: dict[str, dict[str, tuple[int | None, float]]] = {
    "adult": {"SvmSgd": (261, 0.59), "SGD-QN": (39, 0.06), "SGD-m": (50, 0.11), "MPU": (None, 0.06)},
    "web": {"SvmSgd": (49, 0.16), "SGD-QN": (39, 0.11), "SGD-m": (14, 0.05), "MPU": (None, 0.03)},
    "covtype": {"SvmSgd": (573, 28.6), "SGD-QN": (14, 0.65), "SGD-m": (42, 4.4), "MPU": (None, 5.6)},
}


def tries(method: str, most: int) -> Iterator[tuple[float, Any]]:
    # Theirs visit the examples in one random order, and return the last weights.
    last = {"average": "last", "sampling": "fixed"} if method in ("svm-sgd", "sgd-qn") else {}
    source = by_tolerance(C, method) if method == "mpu" else by_passes(C, method, most, **last)
    for setting, attempt in source:
        yield setting, lambda of, attempt=attempt: attempt(replace(of, X=of.X.astype(np.float32)))


def jobs(mode: Mode) -> Iterable[Job]:
    for name in DATA:
        yield Job(f"{name}/optimum", lambda _, name=name: known_optimum(name, C, mode))
        for shown, method in METHODS.items():
            most = mode(3 * (PUBLISHED[name][shown][0] or 0) + 20, 30, 5)

            def measure(found: Mapping[str, Any], name: str = name, method: str = method, most: int = most) -> Any:
                return seconds_to(name, C, found[f"{name}/optimum"], tries(method, most), mode)

            yield Job(f"{name}/{shown}", measure)


def report(found: Mapping[str, Any]) -> Report:
    rows, claims = [], []
    for name, title in DATA.items():
        for shown, (passes, seconds) in PUBLISHED[name].items():
            told = f"{passes} passes, {seconds:g} s" if passes else f"{seconds:g} s"
            run = found.get(f"{name}/{shown}")
            rows.append([title, shown, told, cell(run) if passes or run is None else seconds_cell(run)])
            if passes:
                claims.append(passes_claim(found, name, shown, passes, None, f"{name}/{shown}"))
        claims.append(order_claim(found, name))
    claims.append(other_rows())
    notes = (
        "Examples in single precision; the weights are in double precision here. Passes, of one seed, are the first "
        "of a series of budgets, each 1.2 times the one before, that is within 1%. Seconds include the "
        "conversion of the examples."
    )
    return Report(claims, [Table(["data", "method", "S3", "measured"], rows)], notes=notes)


def seconds_cell(run: Mapping[str, Any]) -> str:
    return f"{run['seconds']:.2g} s" if passes_of(run) is not None else "not within 1%"


def order_claim(found: Mapping[str, Any], name: str) -> Claim:
    text = f"SvmSgd is the slowest, {DATA[name]}"
    told = ", ".join(f"{seconds:g} s" for _, seconds in PUBLISHED[name].values())

    def judge(*runs: Mapping[str, Any]) -> tuple[str, str, str]:
        times = [run["seconds"] if passes_of(run) is not None else float("inf") for run in runs]
        measured = ", ".join(f"{one:.2g} s" for one in times)
        if times[0] == max(times):
            return measured, REPRODUCED, ""
        if times[0] > min(times):
            return measured, WITH_A_DIFFERENCE, "another one is slower still"
        return measured, FAILED, "it is the fastest here"

    return judged(found, [f"{name}/{method}" for method in METHODS], text, told, judge)


EXPERIMENT = Experiment("s3_table8", "S3 Table 8: single precision", jobs, report, expensive=4)

if __name__ == "__main__":
    main(EXPERIMENT)
