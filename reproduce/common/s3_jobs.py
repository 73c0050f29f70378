"""What S3 Tables 2 to 7 measure, two tables for each C: settings that come within 1% of the optimum, then times."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from reproduce.common.data import problem
from reproduce.common.experiment import Job, Mode, solver
from reproduce.common.passes import (
    DATA,
    by_tolerance,
    fit,
    known_optimum,
    liblinear,
    passed,
    passes_to,
    seconds_of,
    setting_to,
    stochastic,
)

__all__ = ["LINEAR", "SEEDS", "SGD", "Published", "jobs", "seeds_of"]

SGD = {"Pegasos": "pegasos", "SGD-r": "sgd-r", "SGD-s": "sgd-s", "SGD-m": "sgd-m"}
LINEAR = ("SVM-perf", "OCAS", "DCD", "SDCA", "MPU")
OPTIONS = {"pegasos": {"average": "last", "sampling": "replace"}}

#: Seeds of methods without a stopping rule, and what the page says of them: fewer where runs take minutes.
SEEDS = "of five seeds, of three with Adult at C = 10 and of one with Covertype,"


def seeds_of(name: str, C: float) -> int:
    return 1 if name == "covtype" else 3 if name == "adult" and C > 1 else 5


#: By data and method: passes, seconds, and the bound where the method has one; None: it failed.
Published = Mapping[str, Mapping[str, tuple[int, float, float | None] | None]]


def tries(method: str, C: float, at: float | None = None) -> Iterator[tuple[float, Any]]:
    """A linear machine at tighter and tighter tolerances, or at one."""
    given = {} if at is None else {"tolerances": [at]}
    if method == "DCD":
        return liblinear(C, **given)
    if method == "SDCA":
        return by_tolerance(C, "sdca", [0.01])
    if method == "MPU":
        return by_tolerance(C, "mpu", **given)
    return by_tolerance(C, "ocas", **given, **({"line_search": False} if method == "SVM-perf" else {}))


def jobs(C: float, published: Published) -> Callable[[Mode], Iterable[Job]]:
    """Those of both tables for this C; `published` are the passes of the SGD algorithms."""

    def walk(name: str, method: str, best: Mapping[str, float], mode: Mode) -> Any:
        known = published[name][method] or published[name]["SGD-r"]
        passes = mode(known[0], min(known[0], 30), 5) if known else 5
        if method in ("SGD-s", "SGD-m"):
            return stochastic(name, C, SGD[method], best, passes, mode)
        of, options = problem(name, mode), OPTIONS.get(SGD[method], {})
        return passes_to(of, C, SGD[method], best, 3 * passes + 5, mode(seeds_of(name, C), 1, 1), **options)

    def timed(name: str, found: Mapping[str, Any], mode: Mode) -> dict[str, list[float]]:
        """Of the methods whose settings are stored."""
        of, runs = problem(name, mode), {}
        for shown, method in SGD.items():
            run = found.get(f"{name}/{shown}", {"passes": None})
            if run["passes"] is None:
                continue
            if "eps" in run:  # it stops by its bound, as in S3
                runs[shown] = lambda method=method, run=run: fit(
                    of, C, solver(method), 0, run["eps"], max_iter=run["tried"]
                )
            else:
                options = OPTIONS.get(method, {})
                runs[shown] = lambda method=method, run=run, options=options: passed(
                    of, C, method, run["passes"], **options
                )
        for method in LINEAR:
            at = found.get(f"{name}/{method}", {"setting": None})["setting"]
            if at is not None:
                runs[method] = lambda method=method, at=at: next(tries(method, C, at))[1](of)
        return seconds_of(runs, mode(3, 3, 1))

    def measured(mode: Mode) -> Iterable[Job]:
        for name in DATA:
            yield Job(f"{name}/optimum", lambda _, name=name: known_optimum(name, C, mode))
            for method in SGD:
                yield Job(
                    f"{name}/{method}",
                    lambda found, name=name, method=method: walk(name, method, found[f"{name}/optimum"], mode),
                )
            for method in LINEAR:
                yield Job(
                    f"{name}/{method}",
                    lambda found, name=name, method=method: setting_to(
                        problem(name, mode), C, found[f"{name}/optimum"], tries(method, C)
                    ),
                )
            yield Job(f"{name}/times", lambda found, name=name: timed(name, found, mode))

    return measured
