"""Displays draw what fits store, on the axes they are given."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pegasos
from pegasos import SVC, LinearSVC, LinearSVCCV, LinearSVR, SequenceSVC

plt = pytest.importorskip("matplotlib.pyplot")
pytest.importorskip("matplotlib").use("Agg")

from pegasos.plot import (  # noqa: E402, after the check for matplotlib
    ConvergenceDisplay,
    MarginDisplay,
    PathDisplay,
    TopFeaturesDisplay,
    TransitionsDisplay,
)

ROOT = Path(__file__).parents[2]
SENTENCES = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=dogs"], ["w=bark"]]]
TAGS = [["D", "N", "V"], ["N", "V"]]


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def two():
    return make_classification(300, 8, flip_y=0.2, random_state=0)


@pytest.fixture(scope="module")
def fitted(two):
    return LinearSVC(C=0.1, solver="sdca", random_state=0).fit(*two)


@pytest.fixture(scope="module")
def three():
    X, y = make_blobs(150, centers=3, random_state=0)
    return X, np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def tagger():
    return SequenceSVC(C=1.0, random_state=0).fit(SENTENCES, TAGS)


def test_convergence_has_the_bounds_and_the_gap_of_the_history(fitted):
    display = ConvergenceDisplay.from_estimator(fitted, x="epoch")
    primal, dual, gap = display.lines_
    for line, name in ((primal, "primal"), (dual, "dual"), (gap, "gap")):
        np.testing.assert_array_equal(line.get_xdata(), fitted.history_["epoch"])
        np.testing.assert_array_equal(line.get_ydata(), fitted.history_[name])
    assert [ax.get_xlabel() for ax in display.ax_] == ["epochs", "epochs"]
    assert display.ax_[1].get_yscale() == "log"
    assert display.figure_ is display.ax_[0].figure


def test_convergence_of_several_fits_is_one_over_the_other(two, fitted):
    other = LinearSVC(C=0.1, solver="pegasos", tol=0.1, random_state=0).fit(*two)
    display = ConvergenceDisplay.from_estimators({"one": fitted, "two": other}, what="gap")
    assert [line.get_label() for line in display.lines_] == ["one", "two"]
    listed = ConvergenceDisplay.from_estimators([fitted, make_pipeline(StandardScaler(), other)], what="gap")
    assert [line.get_label() for line in listed.lines_] == ["sdca, tol=0.001", "pegasos, tol=0.1"]
    same = ConvergenceDisplay.from_estimators([fitted, fitted], what="gap")
    assert [line.get_label() for line in same.lines_] == ["1: LinearSVC", "2: LinearSVC"]
    kinds = ConvergenceDisplay.from_estimators([fitted, SVC(random_state=0).fit(*two)], what="gap")
    assert [line.get_label().partition(",")[0] for line in kinds.lines_] == ["LinearSVC", "SVC"]


def test_convergence_of_several_problems_has_the_parts(three):
    svc = LinearSVC(random_state=0).fit(*three)
    display = ConvergenceDisplay.from_estimator(svc, what="gap")
    assert display.names == ["'a' against the rest", "'b' against the rest", "'c' against the rest"]
    assert display.histories == svc.history_
    joint = LinearSVC(multi_class="joint", random_state=0).fit(*three)
    assert len(ConvergenceDisplay.from_estimator(joint, what="gap").lines_) == 1
    pairs = SVC(random_state=0).fit(*three)
    assert "'a' against 'b'" in ConvergenceDisplay.from_estimator(pairs, what="gap").names


def trace(seconds, epoch, dual):
    primal = np.full(len(seconds), 2.0)
    with np.errstate(divide="ignore"):
        gap = np.where(np.array(dual) > 0, 2.0 / np.array(dual) - 1, np.inf)
    return {
        "seconds": np.array(seconds),
        "epoch": np.array(epoch),
        "primal": primal,
        "dual": np.array(dual),
        "gap": gap,
    }


def test_both_panels_begin_at_0_and_end_together():
    history = trace([0.01, 0.02, 0.05], [1.0, 2.0, 5.0], [0.0, 0.0, 1.9])
    display = ConvergenceDisplay([history], ["fit"]).plot()
    assert display.ax_[0].get_xlim() == display.ax_[1].get_xlim() == (0, pytest.approx(52.5))
    assert [ax.get_xlabel() for ax in display.ax_] == ["milliseconds"] * 2
    np.testing.assert_allclose(display.lines_[0].get_xdata(), [10, 20, 50])
    display.ax_[0].set_xscale("log")  # of both
    low, high = display.ax_[1].get_xlim()
    assert 1 < low < 10
    assert 50 < high < 100
    over = ConvergenceDisplay([{**history, "seconds": 100 * history["seconds"]}], ["fit"]).plot(display.ax_)
    assert over.ax_[0].get_xlabel() == "milliseconds"
    np.testing.assert_allclose(over.lines_[0].get_xdata(), [1000, 2000, 5000])
    slow = ConvergenceDisplay([{**history, "seconds": 100 * history["seconds"]}], ["fit"]).plot()
    assert slow.ax_[0].get_xlabel() == "seconds"


def test_problems_of_a_fit_begin_at_0(three):
    svc = LinearSVC(random_state=0).fit(*three)
    svc.history_ = [trace([10 + k + t for t in (0.25, 0.5, 1.0)], [1.0, 2.0, 4.0], [0.5, 1.0, 1.9]) for k in range(3)]
    display = ConvergenceDisplay.from_estimator(svc)
    for line in display.lines_:
        np.testing.assert_allclose(line.get_xdata(), [0.25, 0.5, 1.0])
    assert display.ax_[0].get_xlabel() == "seconds since each problem began"
    assert [line.get_marker() for line in display.lines_] == ["o"] * 9
    svc.history_ = svc.history_[0]
    svc.certificate_ = svc.certificate_.parts[0]
    alone = ConvergenceDisplay.from_estimator(svc, what="gap")
    assert alone.ax_.get_xlabel() == "seconds since the solver began"


def test_names_of_many_lines_are_beside_the_picture(fitted):
    fits = {str(number): fitted for number in range(6)}
    display = ConvergenceDisplay.from_estimators(fits)
    assert display.ax_[0].get_legend() is None
    display.figure_.canvas.draw()
    legend, picture = display.ax_[1].get_legend().get_window_extent(), display.ax_[1].get_window_extent()
    assert legend.x0 >= picture.x1
    assert {line.get_marker() for line in display.lines_} == {"None"}


def test_many_problems_have_no_legend(fitted):
    fits = {str(number): fitted for number in range(11)}
    display = ConvergenceDisplay.from_estimators(fits, what="gap")
    assert display.ax_.get_legend() is None
    assert display.ax_.get_title() == "11 problems"
    assert {(line.get_linestyle(), line.get_linewidth()) for line in display.lines_} == {("-", 0.8)}


def test_lines_that_end_early_are_not_crushed():
    fast, slow = (trace([size, 2 * size, 4 * size], [1.0, 2.0, 4.0], [0.5, 1.0, 1.9]) for size in (0.01, 1.0))
    display = ConvergenceDisplay([fast, slow], ["fast", "slow"]).plot()
    assert [ax.get_xscale() for ax in display.ax_] == ["log", "log"]
    assert ConvergenceDisplay([slow], ["slow"]).plot().ax_[0].get_xscale() == "linear"


def test_passes_of_interior_point_are_no_epochs(two):
    clf = LinearSVC(solver="interior-point", random_state=0).fit(*two)
    assert clf.history_["epoch"][-1] > clf.n_iter_
    assert ConvergenceDisplay.from_estimator(clf, what="gap", x="epoch").ax_.get_xlabel() == "passes over the examples"
    assert ConvergenceDisplay.from_estimator(clf, what="gap").ax_.get_xlabel().startswith("milliseconds")


def test_one_axes_has_the_gap(fitted):
    _, ax = plt.subplots()
    display = ConvergenceDisplay.from_estimator(fitted, ax=ax)
    assert display.ax_ is ax
    assert ax.get_ylabel() == "relative duality gap"


def test_bounds_that_are_not_finite_leave_a_gap():
    numbers = np.arange(3.0)
    history = {"seconds": numbers, "epoch": numbers, "primal": numbers, "dual": np.array([-np.inf, 1, 2])}
    display = ConvergenceDisplay([history | {"gap": np.array([np.inf, 0.0, 0.5])}], ["fit"]).plot()
    assert np.isnan(display.lines_[1].get_ydata()).tolist() == [True, False, False]
    assert np.isnan(display.lines_[2].get_ydata()).tolist() == [True, True, False]


def test_convergence_refuses(two, fitted):
    with pytest.raises(NotFittedError):
        ConvergenceDisplay.from_estimator(LinearSVC())
    with pytest.raises(ValueError, match="'seconds' or 'epoch'"):
        ConvergenceDisplay.from_estimator(fitted, x="time")
    with pytest.raises(ValueError, match="'bounds', 'gap' or 'both'"):
        ConvergenceDisplay.from_estimator(fitted, what="all")
    with pytest.raises(ValueError, match="pass one at least"):
        ConvergenceDisplay.from_estimators([])
    with pytest.raises(ValueError, match="3 axes, and there are 2"):
        ConvergenceDisplay.from_estimator(fitted, ax=plt.subplots(3)[1], what="both")
    stream = LinearSVC(solver="adagrad", random_state=0).partial_fit(*two, classes=[0, 1])
    with pytest.raises(ValueError, match="one pass"):
        ConvergenceDisplay.from_estimator(stream)


def test_margins_of_two_classes(two, fitted):
    X, y = two
    display = MarginDisplay.from_estimator(fitted, X, y)
    np.testing.assert_array_equal(display.margins, fitted.decision_function(X) * np.where(y == 1, 1, -1))
    assert display.n_errors_ == np.sum(fitted.predict(X) != y)
    heights = [sum(bar.get_height() for bar in bars) for bars in display.bars_]
    within = display.n_within_ - display.n_errors_
    assert heights == [display.n_errors_, within, len(y) - display.n_within_]


def test_examples_within_the_margin_are_the_support_vectors(two):
    X, y = two
    svc = SVC(C=1.0, tol=1e-8, random_state=0).fit(X, y)
    margins = MarginDisplay.from_estimator(svc, X, y).margins
    assert set(np.flatnonzero(margins < 1 - 1e-3)) <= set(svc.support_.tolist()) <= set(np.flatnonzero(margins < 1.001))


def test_margins_of_more_classes(three):
    X, y = three
    svc = LinearSVC(random_state=0).fit(X, y)
    display = MarginDisplay.from_estimator(svc, X, y)
    assert display.n_errors_ == np.sum(svc.predict(X) != y)
    given = MarginDisplay.from_predictions(y, svc.decision_function(X))
    np.testing.assert_array_equal(given.margins, display.margins)
    with pytest.raises(ValueError, match="use multi_class='ovr'"):
        MarginDisplay.from_estimator(SVC(random_state=0).fit(X, y), X, y)
    svc = SVC(multi_class="ovr", random_state=0).fit(X, y)
    assert MarginDisplay.from_estimator(svc, X, y).n_errors_ == np.sum(svc.predict(X) != y)


def test_margins_leave_out_labels_that_the_model_does_not_know(three):
    X, y = three
    svc = LinearSVC(random_state=0).fit(X, y)
    assert len(MarginDisplay.from_estimator(svc, X, np.where(y == "a", "new", y)).margins) == np.sum(y != "a")


def test_margins_of_sequences_are_those_of_positions(tagger):
    display = MarginDisplay.from_estimator(tagger, SENTENCES, TAGS)
    assert len(display.margins) == 5
    assert display.n_errors_ == 0
    np.testing.assert_allclose(display.margins, np.concatenate(tagger.margins(SENTENCES)))


def test_path(two):
    X, y = two
    found = pegasos.path(X, y, Cs=4, random_state=0)
    display = PathDisplay.from_path(found, X, y)
    errors = [np.mean((column > 0) != y) for column in found.decision_function(X).T]
    np.testing.assert_allclose(display.errors, errors)
    np.testing.assert_allclose(display.norms, np.linalg.norm(found.coefs, axis=1))
    assert display.ax_.get_xscale() == "log"
    assert PathDisplay.from_path(found).errors is None
    with pytest.raises(ValueError, match="pass both"):
        PathDisplay.from_path(found, X)


@pytest.mark.parametrize("data", ["two", "three"])
def test_path_of_cross_validation(data, request):
    X, y = request.getfixturevalue(data)
    clf = LinearSVCCV(Cs=4, random_state=0).fit(X, y)
    display = PathDisplay.from_estimator(clf)
    np.testing.assert_array_equal(display.errors, 1 - clf.mean_score_)
    assert display.C == clf.C_
    assert clf.norms_.shape == clf.scores_.shape
    assert (np.diff(clf.norms_, axis=1) > 0).all()  # less regularised
    with pytest.raises(ValueError, match="LinearSVCCV"):
        PathDisplay.from_estimator(clf.best_estimator_)


def test_norms_of_cross_validation_are_those_of_the_fits(two):
    X, y = two
    train, test = np.arange(200), np.arange(200, 300)
    clf = LinearSVCCV(Cs=[0.1, 1.0], cv=[(train, test)], random_state=0).fit(X, y)
    found = pegasos.path(X[train], y[train], Cs=[0.1, 1.0], random_state=0)
    np.testing.assert_allclose(clf.norms_[0], np.linalg.norm(found.coefs, axis=1), rtol=0.01)


def test_top_features(two, fitted):
    display = TopFeaturesDisplay.from_estimator(fitted, top=2, feature_names=[f"f{k}$" for k in range(8)])
    (weights,) = display.weights
    order = np.argsort(-fitted.coef_[0])
    assert weights.names == [f"f{k}$" for k in (*order[:2], *order[-2:])]
    assert weights.title == "1 against 0"
    assert [bar.get_width() for bar in display.bars_[0]] == weights.values
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [
        f"f{k}\\$" for k in (*order[:2], *order[-2:])
    ]
    display.figure_.canvas.draw()  # a dollar sign is no formula
    assert TopFeaturesDisplay.from_estimator(fitted, top=1).weights[0].names[0] == f"x{order[0]}"
    assert len(display.ax_.get_xticks()) <= 6


def test_top_features_of_text_and_of_classes():
    texts, labels = ["good fine film", "bad dull film", "odd strange film"] * 3, ["good", "bad", "odd"] * 3
    model = make_pipeline(TfidfVectorizer(), LinearSVC(random_state=0)).fit(texts, labels)
    display = TopFeaturesDisplay.from_estimator(model, top=2)
    assert [one.title for one in display.weights] == ["bad", "good", "odd"]
    assert set(display.weights[1].names[:2]) == {"good", "fine"}
    assert len(display.ax_) == 3
    assert len(TopFeaturesDisplay.from_estimator(model, classes=["odd"]).weights) == 1
    with pytest.raises(ValueError, match="none of them has weights"):
        TopFeaturesDisplay.from_estimator(model, classes=["other"])


def test_top_features_of_other_machines(two, three, tagger):
    X, y = two
    assert TopFeaturesDisplay.from_estimator(LinearSVR(random_state=0).fit(X, y)).weights[0].title == ""
    pairs = TopFeaturesDisplay.from_estimator(SVC(kernel="linear", random_state=0).fit(*three))
    assert [one.title for one in pairs.weights] == ["a against b", "a against c", "b against c"]
    assert "w=the" in TopFeaturesDisplay.from_estimator(tagger, classes=["D"]).weights[0].names
    with pytest.raises(ValueError, match="kernel"):
        TopFeaturesDisplay.from_estimator(SVC(random_state=0).fit(X, y))


def test_transitions(tagger, fitted):
    display = TransitionsDisplay.from_estimator(tagger)
    assert display.columns == ["D", "N", "V", "end"]
    np.testing.assert_array_equal(display.weights[1:, :-1], tagger.transitions_)
    np.testing.assert_array_equal(display.weights[0, :-1], tagger.start_)
    np.testing.assert_array_equal(display.weights[1:, -1], tagger.end_)
    written = [text.get_text() for text in display.ax_.texts]
    assert len({len(text.partition(".")[2]) for text in written}) == 1
    assert not {"-0.0", "-0.00", "-0.000"} & set(written)
    bare = SequenceSVC(C=1.0, boundaries=False, constraints=[("D", "V")], random_state=0).fit(SENTENCES, TAGS)
    display = TransitionsDisplay.from_estimator(bare, colorbar=False)
    assert display.rows == ["D", "N", "V"]
    assert "x" in [text.get_text() for text in display.ax_.texts]
    with pytest.raises(ValueError, match="SequenceSVC"):
        TransitionsDisplay.from_estimator(fitted)


@pytest.mark.parametrize("response", ["auto", "predict", "decision_function"])
@pytest.mark.parametrize("machine", [LinearSVC, SVC])
def test_decision_boundaries(machine, response, three):
    X, y = three
    keep = y != "c"
    fitted = machine(random_state=0).fit(X[keep], y[keep])
    display = DecisionBoundaryDisplay.from_estimator(fitted, X[keep], response_method=response, grid_resolution=10)
    assert display.response.shape == (10, 10)
    several = DecisionBoundaryDisplay.from_estimator(
        machine(random_state=0).fit(X, y), X, response_method="predict", grid_resolution=10
    )
    assert len(np.unique(several.response)) == 3


def test_nothing_is_imported_before_something_is_drawn():
    code = "import sys, pegasos.plot; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_error_says_what_to_install(fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="install matplotlib"):
        ConvergenceDisplay.from_estimator(fitted)


def test_the_pictures_of_the_docs_are_there_and_small():
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs" / "pictures.py")
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    there = sorted(f"pictures/{path.name}" for path in (ROOT / "docs" / "pictures").iterdir())
    assert sorted(pictures.pictures()) == there
    assert all((ROOT / "docs" / name).stat().st_size < 100_000 for name in there)


def test_slips_of_margins(fitted, two, three):
    X, y = two
    with pytest.raises(ValueError, match="y has 5 labels for 300 examples"):
        MarginDisplay.from_estimator(fitted, X, y[:5])
    with pytest.raises(ValueError, match="a LinearSVR predicts numbers"):
        MarginDisplay.from_estimator(LinearSVR(random_state=0).fit(X, y), X, y)
    with pytest.raises(NotFittedError):
        MarginDisplay.from_estimator(LinearSVC(), X, y)
    with pytest.raises(ValueError, match="none of the labels is among the classes, 0, 1"):
        MarginDisplay.from_estimator(fitted, X, y.astype(str))
    labels = three[1]
    for predicted in (labels, np.unique(labels, return_inverse=True)[1], np.zeros((150, 2))):
        with pytest.raises(ValueError, match="3 columns, one for each class; pass those of decision_function"):
            MarginDisplay.from_predictions(labels, predicted)


def test_slips_of_features(fitted):
    with pytest.raises(ValueError, match="feature_names has 1 name for 8 features"):
        TopFeaturesDisplay.from_estimator(fitted, feature_names=["a"])
    with pytest.raises(ValueError, match="top=-1: must be at least 0"):
        TopFeaturesDisplay.from_estimator(fitted, top=-1)
