"""Frames and series of polars: as good as pandas', errors included."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from pegasos import SVC, SVR, LinearSVC, LinearSVCCV, LinearSVR

pl = pytest.importorskip("polars", reason="polars is not installed")

X, Y = make_classification(200, 6, random_state=0)


@pytest.fixture
def frame():
    return pl.DataFrame(X, schema=[f"x{k}" for k in range(6)])


@pytest.mark.parametrize("model", [LinearSVC(), SVC(), LinearSVR(), SVR(), LinearSVCCV(Cs=2, cv=2)], ids=str)
def test_fit_and_predict(frame, model):
    series, weights = pl.Series(Y), pl.Series(np.ones(200))
    model.fit(frame, series, weights)
    assert model.feature_names_in_.tolist() == frame.columns
    np.testing.assert_allclose(model.predict(frame), model.fit(X, Y).predict(X), atol=1e-9)
    assert 0 <= model.fit(frame, series).score(frame, series) <= 1


def test_labels_that_are_words(frame):
    assert set(LinearSVC().fit(frame, pl.Series(["no", "yes"] * 100)).predict(frame)) <= {"no", "yes"}


def test_streams(frame):
    stream = LinearSVC(alpha=1e-3).partial_fit(frame, pl.Series(Y), classes=[0, 1])
    assert stream.feature_names_in_.tolist() == frame.columns


def test_errors(frame):
    words = frame.with_columns(pl.lit("a").alias("word"))
    model = LinearSVC()
    with pytest.raises(ValueError, match="'a' in column word; encode names"):
        model.fit(words, Y)
    with pytest.raises(ValueError, match="contains NaN: row 0, column 'none'"):
        model.fit(frame.with_columns(pl.lit(None, dtype=pl.Int64).alias("none")), Y)
    day = frame.with_columns(pl.lit("2020-01-01").str.to_date().alias("day"))
    with pytest.raises(ValueError, match="X has dates or times in column day; make numbers of them"):
        model.fit(day, Y)
    with pytest.raises(TypeError, match=r"pass X.collect\(\)"):
        model.fit(frame.lazy(), Y)
    model.fit(frame, Y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.select(reversed(frame.columns)))
