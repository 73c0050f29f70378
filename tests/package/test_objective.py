"""The benchmarks' own evaluation of objectives agrees with certificates, for each loss and kind of problem."""

import importlib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def modules(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


def test_objectives_are_those_of_certificates(modules):
    cases, peers, objective = modules("cases"), modules("peers"), modules("objective")
    way = peers.get("pegasos").ways(None)[0]
    seen = set()
    for case in cases.TINY:
        problem = case.problem()
        found = way.fit(problem, problem.data.X, 1e-6)
        value = objective.evaluate(problem, found)
        seen.add(problem.kind)
        if problem.kind == "sequence":
            assert 0 <= value < 0.2
        else:
            assert found.dual * (1 - 1e-9) <= value <= found.dual * (1 + 2e-6), problem.key
    assert seen == {"linear", "kernel", "sequence"}


def test_an_intercept_counts_as_stated(modules):
    """In the norm where it is penalized, as good as it can be where it is free, not at all where there is none."""
    cases, objective = modules("cases"), modules("objective")
    kinds = {}
    for intercept in ("none", "penalized", "free"):
        problem = cases.Case("tiny-dense", intercept=intercept).problem()
        found = objective.Found(coef=[[0.0] * 8], intercept=3.0)
        kinds[intercept] = objective.evaluate(problem, found)
    y = problem.data.y
    assert kinds["none"] == len(y)
    assert kinds["penalized"] == pytest.approx(4.5 + 4 * (y == -1).sum())
    assert kinds["free"] == pytest.approx(2 * min((y == 1).sum(), (y == -1).sum()))
