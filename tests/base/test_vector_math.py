"""exp and log of the core (cpp/base/vector_math.hpp) are within the errors that are stated there."""

import numpy as np
import pytest

from pegasos._core import native

pytestmark = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="long double is no longer than double, so that nothing is exact enough"
)

CASES = {
    "exp": (native.probe_exp, np.exp, np.float64, 3),
    "exp2": (native.probe_exp2, np.exp2, np.float64, 2),
    "exp2_float32": (native.probe_exp2_float32, np.exp2, np.float32, 2),
    "log": (native.probe_log, np.log, np.float64, 3),
}


def make_grid(name):
    """All of the range, and more closely where the argument is reduced to nothing and where results are near 0."""
    random = np.random.default_rng(0)
    if name == "log":
        wide, near = np.exp(np.linspace(-700, 700, 100_000)), np.linspace(0.4, 2.6, 100_000)
        tiny = 1 + random.choice([-1, 1], 20_000) * np.exp(random.uniform(np.log(2.0**-52), -1, 20_000))
        return np.concatenate([wide, near, tiny])
    most = {"exp": 700, "exp2": 1022, "exp2_float32": 126}[name]
    unit = np.log(2) if name == "exp" else 1
    borders = (np.arange(-120, 121)[:, None] + 0.5) * unit + random.normal(size=100) * 1e-6
    return np.concatenate([np.linspace(-most, most, 100_000), np.linspace(-1, 1, 100_000), borders.ravel()])


@pytest.mark.parametrize("name", CASES)
def test_units_in_the_last_place(name):
    ours, exact, dtype, most = CASES[name]
    x = make_grid(name).astype(dtype)
    expected = exact(x.astype(np.longdouble))
    found = np.array(ours(x.tolist()), dtype=dtype)
    unit = np.spacing(np.abs(expected.astype(dtype)))
    errors = np.abs(found.astype(np.longdouble) - expected) / unit
    assert errors.max() <= most, (name, x[errors.argmax()], errors.max())
    assert (found[expected == 0] == 0).all()


def test_beyond_the_range_the_nearer_bound():
    far = np.array([-np.inf, -1e300, -701, 701, 1e300, np.inf])
    np.testing.assert_allclose(native.probe_exp(far.tolist()), np.exp(far.clip(-700, 700)), rtol=1e-15)
