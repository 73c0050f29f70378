"""Members are read as they were written."""

import io

import numpy as np
import pytest

from pegasos._core import native
from pegasos.base.bounds import Bounds
from pegasos.base.state import State


class Inner:
    def __init__(self):
        self.count = 0

    def state(self, state):
        state(self, "count")


class Outer:
    def __init__(self):
        self.numbers = [0.0, 1, None]
        self.name = ""
        self.bounds = Bounds()
        self.fixed, self.grown = np.zeros(3), np.empty(0, np.int64)
        self.random = np.random.default_rng(0)
        self.fit = native.Ascent(3, 50, tol=1e-3, usual=1.0)
        self.stream = native.Stream(4, "hinge", 0.0, 0.1, output="suffix")
        self.inner = Inner()

    def state(self, state):
        state(self, "numbers", "name", "bounds", "fixed", "grown", "random", "fit", "stream", "inner")


def changed():
    outer = Outer()
    outer.numbers, outer.name, outer.inner.count = [np.float64(0.1) / 3, -np.inf, 2**60], "é", 7
    outer.bounds = Bounds(1 / 3, -np.inf, 1e-300, 0.0)
    outer.fixed[:], outer.grown = [1 / 3, np.nan, -0.0], np.arange(5)
    outer.random.permutation(100)
    outer.fit.visits = 7
    outer.fit.end_epoch()
    learn(outer.stream)
    return outer


def learn(stream):
    random = np.random.default_rng(1)
    X = random.normal(size=(50, 3))
    y = np.sign(X[:, 0])
    stream.learn(native.dense_rows(X, 1.0), y, np.ones(50), native.Run())


def written(outer):
    state = State()
    outer.state(state)
    return b"".join(state.pieces)


def test_members_are_read_as_they_were_written():
    before, after = changed(), Outer()
    place, data = after.fixed, written(before)
    state = State(io.BytesIO(data))
    assert state.reads
    after.state(state)
    state.end()
    assert after.fixed is place  # filled where it is
    assert after.bounds == before.bounds
    assert type(after.bounds) is Bounds
    assert written(after) == data
    for one in (before, after):
        learn(one.stream)  # goes on to the same bits
        one.fit.end_epoch()
        one.random.random()
    assert written(after) == written(before)


def test_arrays_are_not_copied():
    outer, state = Outer(), State()
    state(outer, "fixed")
    outer.fixed[0] = 5.0
    assert np.frombuffer(state.pieces[1])[0] == 5.0


def test_what_is_too_short_or_too_long_is_refused():
    data = written(changed())
    for other in [data[:k] for k in range(0, len(data), 7)] + [data + b"0", b"\xff" * len(data), data[1:]]:
        state = State(io.BytesIO(other))
        with pytest.raises(ValueError, match="does not belong to this run"):
            Outer().state(state) or state.end()
