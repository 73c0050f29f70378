"""S0 Table 1: linear machines, the time to a distance from the optimum and the test error then."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reproduce.common.data import STAND_INS, TITLES, Split, split
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
    on_other_data,
    solver,
)
from reproduce.common.linear import Budgeted, budgets, by_lasvm, fit, median, optimum, sub, trace, with_bias
from reproduce.common.over_time import bias_claim, cell, reached, told

#: lambda, the distance epsilon to stop at, the test error at the optimum, and seconds with the error by method.
PUBLISHED: dict[str, Any] = {
    "covtype": {
        "as": "cov1",
        "lambda": 1e-6,
        "epsilon": 0.0449,
        "error": 22.6,
        "Pegasos": (0.32, 23.2),
        "SDCA": (0.20, 22.9),
        "SVM-Perf": (4.2, 23.9),
        "LASVM": (210, 23.8),
    },
    "rcv1": {
        "as": "CCAT",
        "lambda": 1e-4,
        "epsilon": 0.00589,
        "error": 6.03,
        "Pegasos": (0.16, 6.16),
        "SDCA": (0.36, 6.57),
        "SVM-Perf": (3.6, 5.93),
        "LASVM": (18_000, None),
    },
    "text": {
        "as": "astro-ph",
        "lambda": 5e-5,
        "epsilon": 0.0275,
        "error": 3.36,
        "Pegasos": (0.04, 3.56),
        "SDCA": (0.03, 3.49),
        "SVM-Perf": (0.1, 3.39),
        "LASVM": (54, 3.65),
    },
}
METHODS = ("Pegasos", "SDCA", "SVM-Perf", "OCAS")
#: The curves of Fig. 4 go on until so small a part of epsilon.
BEYOND = 1 / 20
TOLERANCES = (30, 10, 5, 3, 2, 1, 0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005, 0.003, 0.002, 0.001)


def runs(method: str, n: int, mode: Mode) -> Iterator[tuple[float, Budgeted]]:
    """A method with growing budgets: steps, epochs or tighter tolerances."""
    if method == "Pegasos":
        for steps in budgets(n / 64, mode(256, 16, 2) * n):
            yield steps, Budgeted(solver("pegasos", max_steps=steps, average="last", sampling="replace"))
    elif method == "SDCA":
        for epochs in budgets(1, mode(256, 32, 4), 2**0.5):
            yield epochs, Budgeted(solver("sdca", order="permute"), epochs)
    else:
        options = {"line_search": False} if method == "SVM-Perf" else {}
        for tol in TOLERANCES[:: mode(1, 1, 4)]:
            yield tol, Budgeted(solver("ocas", **options), tol=tol)


def jobs(mode: Mode) -> Iterable[Job]:
    for name in PUBLISHED:
        known = PUBLISHED[name]

        def measure(found: Mapping[str, Any], method: str, name: str = name, known: Any = known) -> Any:
            data, best = split(name, mode), found[f"{name}/optimum"]
            enough = BEYOND * known["epsilon"]
            methods = runs(method, len(data.y), mode)
            return trace(data, known["lambda"], methods, enough=lambda point: sub(point, best) <= enough)

        yield Job(f"{name}/optimum", lambda _, name=name, known=known: optimum(split(name, mode), known["lambda"]))
        for method in METHODS:
            yield Job(f"{name}/{method}", lambda found, method=method, measure=measure: measure(found, method))
        yield Job(f"{name}/with bias", lambda _, name=name, known=known: with_bias(split(name, mode), known["lambda"]))
        yield Job(
            f"{name}/outputs", lambda _, name=name, known=known: outputs(split(name, mode), known["lambda"], mode)
        )
    for name, known in sorted(PUBLISHED.items(), key=lambda one: one[0] == "covtype"):  # which would take hours
        yield Job(f"{name}/LASVM", lambda found, name=name, known=known: lasvm(found, name, known, mode))


def outputs(data: Split, lam: float, mode: Mode) -> list[dict[str, Any]]:
    """Pegasos with the last iterate and with the mean of all."""
    points = []
    for steps in budgets(len(data.y) / 4, mode(16, 4, 1) * len(data.y), 4):
        for seed in range(mode(3, 1, 1)):
            for output, average in (("last", "last"), ("mean", True)):
                walk = solver("pegasos", max_steps=steps, average=average, sampling="replace")
                objective = fit(data, lam, Budgeted(walk), seed).objective
                points.append({"steps": steps, "output": output, "objective": objective})
    return points


def lasvm(found: Mapping[str, Any], name: str, known: Mapping[str, Any], mode: Mode) -> list[dict[str, float]]:
    """Tighter tolerances until it is within epsilon."""
    data, best, points = split(name, mode), found[f"{name}/optimum"], []
    for tol in TOLERANCES[1::4]:
        points.append(by_lasvm(data, known["lambda"], tol))
        if sub(points[-1], best) <= known["epsilon"]:
            break
    return points


def within(found: Mapping[str, Any], name: str, method: str) -> dict[str, float] | None:
    return reached(found, name, method, PUBLISHED[name]["epsilon"])


def report(found: Mapping[str, Any]) -> Report:
    rows, claims = [], []
    for name, known in PUBLISHED.items():
        title = f"{known['as']}: {TITLES[name]}"
        for method in (*METHODS, "LASVM"):
            rows.append([title, method, told(known.get(method)), cell(within(found, name, method))])
        claims.append(on_other_data(error_claim(found, name, known), STAND_INS.get(name, "")))
        for method in ("Pegasos", "SDCA"):
            claims.append(on_other_data(order_claim(found, name, known, method), STAND_INS.get(name, "")))
        for claim in (guarantee_claim, lasvm_claim, last_claim):
            claims.append(on_other_data(claim(found, name, known), STAND_INS.get(name, "")))
        claims.append(on_other_data(bias_claim(found, name, known["as"]), STAND_INS.get(name, "")))
    claims.append(growth_claim(found))
    notes = (
        "Seconds are processor seconds of one thread, less those of validation and of one evaluation of the objective. "
        "SVM-Perf is the plain cutting-plane method (`OCAS(line_search=False)`), OCAS the one with a line search, "
        "which S0 did not have. Covertype's columns are divided by their largest values, as S0 does not state "
        "the scale of cov1; of RCV1 27,613 documents are available here, of which 23,011 are trained on, against "
        "781,265 in S0; astro-ph is not available, and made-up text of its size and sparsity is in its place. LASVM "
        "has a linear kernel and no time is taken off. It is far slower if it takes ten times as long as the slowest "
        "of the others. A bias does not matter if it changes the test error by at most two standard errors of the "
        "difference of two shares."
    )
    return Report(claims, [Table(["data", "method", "S0", "measured"], rows)], notes=notes)


def error_claim(found: Mapping[str, Any], name: str, known: Mapping[str, Any]) -> Claim:
    published = f"{known['error']:g}%"

    def judge(best: Mapping[str, float]) -> tuple[str, str, str]:
        off, measured = best["error"] - known["error"], f"{best['error']:.2f}%"
        if name == "text":
            return measured, NOT_RUN, "astro-ph is not available; the error is that on made-up text"
        if abs(off) <= 0.5:
            return measured, REPRODUCED, f"{off:+.2f} points, on a split of our own"
        return measured, FAILED, f"{off:+.2f} points"

    text = f"Test error at the optimum, {known['as']}"
    return judged(found, [f"{name}/optimum"], text, published, judge)


def order_claim(found: Mapping[str, Any], name: str, known: Mapping[str, Any], method: str) -> Claim:
    text = f"{method} reaches epsilon well before the cutting-plane method, {known['as']}"
    published = f"{known['SVM-Perf'][0] / known[method][0]:.3g} times as fast"

    def judge(*_: Any) -> tuple[str, str, str]:
        ours, cutting = within(found, name, method), within(found, name, "SVM-Perf")
        if ours is None or cutting is None:
            return "", FAILED, f"{method if ours is None else 'SVM-Perf'} did not come within epsilon in its budget"
        ratio = cutting["seconds"] / ours["seconds"]
        measured = f"{ratio:.3g} times as fast"
        if ratio >= 2:
            return measured, REPRODUCED, ""
        if ratio > 1:
            return measured, WITH_A_DIFFERENCE, "by less than a factor of two"
        return measured, FAILED, "it is behind the cutting-plane method"

    return judged(found, [f"{name}/{what}" for what in ("optimum", method, "SVM-Perf")], text, published, judge)


def guarantee_claim(found: Mapping[str, Any], name: str, known: Mapping[str, Any]) -> Claim:
    """S0 chose epsilon so that this holds for all machines within it."""
    text = f"Within epsilon the test error is at most 1.1 times that at the optimum, {known['as']}"
    methods = ("Pegasos", "SDCA", "SVM-Perf")

    def judge(best: Mapping[str, float], *traces: Any) -> tuple[str, str, str]:
        near = [point for points in traces for point in points if sub(point, best) <= known["epsilon"]]
        if not near:
            return "", FAILED, "no method came within epsilon"
        ratios = [point["error"] / best["error"] for point in near]
        measured = f"at most {max(ratios):.3f} times, of {len(near)} machines"
        if max(ratios) <= 1.1:
            return measured, REPRODUCED, ""
        return measured, FAILED, f"{sum(ratio > 1.1 for ratio in ratios)} of {len(near)} are above 1.1 times"

    published = f"at most {max(known[method][1] for method in methods) / known['error']:.3f} times"
    return judged(found, [f"{name}/{what}" for what in ("optimum", *methods)], text, published, judge)


def lasvm_claim(found: Mapping[str, Any], name: str, known: Mapping[str, Any]) -> Claim:
    text = f"LASVM, not made for linear machines, is far slower than Pegasos, SDCA and SVM-Perf, {known['as']}"
    methods = ("LASVM", "Pegasos", "SDCA", "SVM-Perf")

    def judge(*_: Any) -> tuple[str, str, str]:
        points = [within(found, name, method) for method in methods]
        measured = ", ".join(f"{point['seconds']:.2g} s" if point else "not within epsilon" for point in points)
        slowest = max((point["seconds"] for point in points[1:] if point), default=float("inf"))
        ratio = points[0]["seconds"] / slowest if points[0] else float("inf")
        if ratio >= 10:
            return measured, REPRODUCED, ""
        note = f"{ratio:.2g} times as long as the slowest of the others"
        return measured, WITH_A_DIFFERENCE if ratio > 1 else FAILED, note

    published = f"{'more than ' if known['LASVM'][1] is None else ''}{known['LASVM'][0]:g} s, " + ", ".join(
        f"{known[method][0]:g} s" for method in methods[1:]
    )
    return judged(found, [f"{name}/{what}" for what in ("optimum", *methods)], text, published, judge)


def last_claim(found: Mapping[str, Any], name: str, known: Mapping[str, Any]) -> Claim:
    def judge(best: Mapping[str, float], points: Any) -> tuple[str, str, str]:
        steps = sorted({point["steps"] for point in points})

        def away(at: int, output: str) -> float:
            return median(sub(p, best) for p in points if p["steps"] == at and p["output"] == output)

        ratios = [away(at, "mean") / away(at, "last") for at in steps]
        measured = (
            f"the mean is {', '.join(f'{one:.2g}' for one in ratios)} times as far after 1/4, 1, 4 and 16 n steps"
        )
        if min(ratios) > 1:
            return measured, REPRODUCED, ""
        note = f"the mean is nearer after {sum(one <= 1 for one in ratios)} of {len(ratios)} numbers of steps"
        return measured, WITH_A_DIFFERENCE if sum(one > 1 for one in ratios) * 2 > len(ratios) else FAILED, note

    text = f"The last iterate of Pegasos performs better than the mean of all, {known['as']}"
    return judged(found, [f"{name}/optimum", f"{name}/outputs"], text, "better in practice", judge)


def growth_claim(found: Mapping[str, Any]) -> Claim:
    text = "The time of Pegasos goes by lambda and not by the size: cov1 takes longer than the larger CCAT"

    def judge(*_: Any) -> tuple[str, str, str]:
        forest, news = within(found, "covtype", "Pegasos"), within(found, "rcv1", "Pegasos")
        if forest is None or news is None:
            return "", FAILED, "Pegasos did not come within epsilon in its budget"
        steps = (
            f"{forest['budget']:,} and {news['budget']:,} steps, {forest['seconds']:.2g} s and {news['seconds']:.2g} s"
        )
        if forest["budget"] > news["budget"]:
            return steps, WITH_A_DIFFERENCE, "the part of RCV1 used here is the smaller data, so lambda alone was tried"
        return steps, FAILED, "Covertype took fewer steps"

    needs = [f"{name}/{what}" for name in ("covtype", "rcv1") for what in ("optimum", "Pegasos")]
    return judged(found, needs, text, "0.32 s and 0.16 s", judge)


EXPERIMENT = Experiment("s0_table1", "S0 Table 1: linear machines", jobs, report, expensive=2)

if __name__ == "__main__":
    main(EXPERIMENT)
