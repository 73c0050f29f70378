"""S4 Table 2: nu, the mean loss over the norm of w, at certified optima."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pegasos import SVC
from reproduce.common.data import Case, kernel_case
from reproduce.common.experiment import (
    FAILED,
    NOT_RUN,
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
from reproduce.common.kernel import nu_of

TITLES = {"reuters": "Reuters", "adult": "Adult", "mnist8": "MNIST"}
#: By data and bias: gamma = 1 / (2 sigma^2), C = 1 / (lambda n) and nu.
PUBLISHED = {
    ("reuters", False): (1.0, 1.0, 6.34e-4),
    ("adult", False): (0.05, 1.0, 1.10e-2),
    ("adult", True): (0.005, 100.0, 5.79e-4),
    ("mnist8", False): (0.02, 1.0, 2.21e-4),
    ("mnist8", True): (0.02, 1000.0, 6.42e-11),
}
#: Other settings that the printed nu of Adult with bias may be of: gamma and C.
OTHERS = ((0.0025, 100.0), (0.01, 100.0), (0.02, 100.0), (0.005, 10.0), (0.005, 1000.0))


def case_of(name: str, bias: bool, mode: Mode) -> Case:
    gamma, C, _ = PUBLISHED[name, bias]
    return replace(kernel_case(name, mode), gamma=gamma, C=min(C, mode(math.inf, math.inf, 10.0)))


def key(name: str, bias: bool) -> str:
    return f"{name}/{'with' if bias else 'without'} bias"


def jobs(mode: Mode) -> Iterable[Job]:
    def measure(case: Case, bias: bool, tol: float = 1e-4) -> dict[str, float]:
        options = {"C": case.C, "gamma": case.gamma, "fit_intercept": bias, "random_state": 0}
        model = SVC(tol=tol, cache_size=4_000, n_jobs=2, **options).fit(case.X, case.y)
        return {
            "nu": nu_of(case, model.support_, model.dual_coef_, bias),
            "gap": model.certificate_.gap,
            "error": 100 * (1 - model.score(case.X_test, case.y_test)),
        }

    for name, bias in PUBLISHED:
        yield Job(key(name, bias), lambda _, name=name, bias=bias: measure(case_of(name, bias, mode), bias))

    def others() -> list[dict[str, float]]:
        case = case_of("adult", True, mode)
        chosen = [replace(case, gamma=gamma, C=C) for gamma, C in OTHERS[:: mode(1, 1, 3)]]
        return [{"gamma": one.gamma, "C": one.C, **measure(one, True, 1e-3)} for one in chosen]

    yield Job(f"{key('adult', True)}, other settings", lambda _: others())


def report(found: Mapping[str, Any]) -> Report:
    rows, claims = [], []
    for (name, bias), (gamma, C, nu) in PUBLISHED.items():
        run = found.get(key(name, bias))
        ours = [f"{run['nu']:.3g}", f"{run['gap']:.1e}", f"{run['error']:.2f}%"] if run else ["", "", ""]
        rows.append([TITLES[name], "yes" if bias else "no", f"{gamma:g}", f"{C:g}", f"{nu:.3g}", *ours])

        def judge(run: Any, nu: float = nu, name: str = name, bias: bool = bias) -> tuple[str, str, str]:
            measured, ratio = f"{run['nu']:.3g}", run["nu"] / nu
            if abs(ratio - 1) <= 0.01:
                return measured, REPRODUCED, ""
            if abs(ratio - 1) <= 0.1:
                return measured, WITH_A_DIFFERENCE, f"{ratio:.3g} times the published one"
            if nu < 1e-8 and run["nu"] < 1e-6:
                return measured, WITH_A_DIFFERENCE, "both are next to no loss, and what is left goes by the tolerance"
            return measured, FAILED, f"{ratio:.3g} times the published one; {reason(found, name, bias, nu)}"

        text = f"nu at the optimum, {TITLES[name]}, {'with' if bias else 'without'} bias"
        claims.append(judged(found, [key(name, bias)], text, f"{nu:.3g}", judge))
    forest = "nu at the optimum, Forest, with bias"
    why = "LIBSVM took S4 35 hours, and their version of the data is missing here"
    claims.append(Claim(forest, "7.62e-10", "", NOT_RUN, why))
    header = ["data", "bias", "gamma", "C", "S4: nu", "nu", "certified gap", "test error"]
    return Report(claims, [Table(header, rows)], notes="Adult has 32,561 examples here; S4 prints 31,562.")


def reason(found: Mapping[str, Any], name: str, bias: bool, nu: float) -> str:
    """Whether another setting would explain the published nu."""
    others = found.get(f"{key(name, bias)}, other settings")
    if not others:
        return "no reason was found"
    shown = "; ".join(f"{one['nu']:.2g} at gamma = {one['gamma']:g}, C = {one['C']:g}" for one in others)
    if any(abs(one["nu"] / nu - 1) <= 0.1 for one in others):
        return f"another setting has it: {shown}"
    return f"no reason was found, and no other setting that was tried has it: {shown}"


EXPERIMENT = Experiment("s4_table2", "S4 Table 2: nu at the optimum", jobs, report, expensive=3)

if __name__ == "__main__":
    main(EXPERIMENT)
