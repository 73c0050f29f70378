"""S3 Table 1: SGD-s to a relative accuracy of 1e-5 at C = 0.1."""

from collections.abc import Iterable, Mapping
from typing import Any

from reproduce.common.data import problem
from reproduce.common.experiment import (
    FAILED,
    NOT_RUN,
    REPRODUCED,
    WITH_A_DIFFERENCE,
    Experiment,
    Job,
    Mode,
    Report,
    Table,
    judged,
    main,
    solver,
)
from reproduce.common.passes import DATA, fit, known_optimum, other_rows

C = 0.1
#: Epochs, objective and lower bound.
PUBLISHED = {
    "adult": (208_174, 1149.904, 1149.893),
    "web": (16_849, 755.1139, 755.1064),
    "covtype": (712_648, 36427.52, 36427.16),
}


def jobs(mode: Mode) -> Iterable[Job]:
    def measure(name: str) -> Any:
        limit = mode(1_800.0, 60.0, 2.0)
        model, seconds = fit(problem(name, mode), C, solver("sgd-s", check_factor=1.5), 0, 1e-5, max_time=limit)
        found = model.certificate_
        return {
            "epochs": found.n_iter,
            "primal": found.primal,
            "dual": found.dual,
            "gap": found.gap,
            "reason": found.reason,
            "seconds": seconds,
        }

    for name in DATA:
        yield Job(f"{name}/optimum", lambda _, name=name: known_optimum(name, C, mode, 1e-6))
    for name in ("web", "adult", "covtype"):  # from the shortest
        yield Job(f"{name}/SGD-s", lambda _, name=name: measure(name))


def report(found: Mapping[str, Any]) -> Report:
    rows, claims = [], []
    for name, (epochs, J, L) in PUBLISHED.items():
        best, run = found.get(f"{name}/optimum"), found.get(f"{name}/SGD-s")
        rows.append(
            [
                DATA[name],
                f"{epochs:,}",
                f"{run['epochs']:,} (gap {run['gap']:.1e})" if run else "",
                f"{L:.7g} to {J:.7g}",
                f"{best['dual']:.8g} to {best['primal']:.8g}" if best else "",
            ]
        )

        def value(best: Any, J: float = J, L: float = L) -> tuple[str, str, str]:
            measured = f"{best['dual']:.8g} to {best['primal']:.8g}"
            digit = 0.5 * 10.0 ** -(len(f"{J:.7g}".split(".")[1]))
            if best["primal"] >= L - digit and best["dual"] <= J + digit:
                return measured, REPRODUCED, ""
            return measured, FAILED, "the certified bounds exclude the published ones"

        def count(run: Any, epochs: int = epochs) -> tuple[str, str, str]:
            measured = f"{run['epochs']:,} epochs, gap {run['gap']:.1e}"
            if run["reason"] != "tol":
                return measured, NOT_RUN, "the time limit of half an hour ended the run before that accuracy"
            ratio = run["epochs"] / epochs
            if 1 / 1.6 <= ratio <= 1.6:
                return measured, REPRODUCED, ""
            note = f"{ratio:.2g} times as many epochs"
            return measured, WITH_A_DIFFERENCE if 0.1 <= ratio <= 3 else FAILED, note

        text = f"The optimum lies between the bounds of SGD-s, {DATA[name]}"
        claims.append(judged(found, [f"{name}/optimum"], text, f"{L:.7g} to {J:.7g}", value))
        text = f"SGD-s reaches a gap of 1e-5, {DATA[name]}"
        claims.append(judged(found, [f"{name}/SGD-s"], text, f"{epochs:,} epochs", count))
    claims.append(other_rows())
    table = Table(["data", "S3: epochs", "measured", "S3: bounds", "our certified bounds"], rows)
    notes = "The bounds are those of our default solver. SGD-s has at most half an hour for each data set, and f = 1.5."
    return Report(claims, [table], notes=notes)


EXPERIMENT = Experiment("s3_table1", "S3 Table 1: SGD-s to 1e-5", jobs, report, expensive=9)

if __name__ == "__main__":
    main(EXPERIMENT)
