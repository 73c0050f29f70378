"""What a report has in it: structure by a parser of HTML, figures against scikit-learn's."""

import html
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score, confusion_matrix, precision_recall_fscore_support, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.fit_helpers import vectors
from tests.reporting_helpers import CASES, HOSTILE, page_of

import pegasos
from pegasos import SVC, FeatureMapSVC, LinearSVC, LinearSVCCV, LinearSVR, SequenceSVC, io
from pegasos.reporting.charts import MOST_POINTS, Scale, line_chart, series
from pegasos.reporting.markup import Markup, el, escape
from pegasos.reporting.quality import judge
from pegasos.reporting.words import sentences
from pegasos.sequence import chunk_scores
from pegasos.solvers import Pegasos

VOID = {"meta", "input", "br"}


class Page(HTMLParser):
    """Elements with their attributes, text by element, and whether what is opened is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module", params=CASES)
def page(request):
    return Page(page_of(request.param).html)


def test_every_page_is_well_formed_and_stands_alone(page):
    assert {"html", "head", "body", "main", "header", "footer", "nav"} <= {name for name, _ in page.elements}
    for tag in ("link", "img", "iframe", "object", "base", "form"):
        assert not page.all(tag)
    assert all("src" not in attributes for _, attributes in page.elements)
    assert len(page.all("script")) == 1
    addresses = [attributes["href"] for attributes in page.all("a")]
    assert all(address.startswith(("#", "https://")) for address in addresses)
    policy = next(one["content"] for one in page.all("meta") if one.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]


def test_every_page_can_be_read_without_seeing_it(page):
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {one["href"][1:] for one in page.all("a") if one["href"].startswith("#")} <= set(ids)
    for attributes in page.all("section"):
        assert attributes["aria-labelledby"] in ids
    for attributes in page.all("svg"):
        if attributes.get("aria-hidden") == "true":  # a line in a legend, which has its name beside it
            continue
        assert attributes["role"] == "img"
        assert attributes["aria-label"]
        assert attributes["tabindex"] == "0"
    for attributes in page.all("th"):
        assert attributes["scope"] in ("row", "col")
    tables = page.all("table")
    assert len(page.all("caption")) == len(tables)
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("h1")) == 1


def test_drawings_have_finite_places_only(page):
    for tag in ("line", "circle", "rect", "polyline", "polygon", "text"):
        for attributes in page.all(tag):
            text = " ".join(str(value) for key, value in attributes.items() if key not in ("class", "transform"))
            assert "nan" not in text
            assert "inf" not in text


def test_what_is_in_the_page_of_two_classes():
    model, X, y = CASES["two_classes"]()
    page = Page(pegasos.report(model, X, y, data="made up", training=True).html)
    names = [attributes["id"] for attributes in page.all("section")]
    expected = ["certificate", "convergence", "errors", "margins", "thresholds", "features", "timings", "again"]
    assert names == expected
    assert "LinearSVC on made up" in page.text
    assert "expect larger errors on others" in page.text
    assert f"{np.sum(model.predict(X) != y)} of 300 wrong" in page.text
    assert "reached it after" in page.text
    assert repr(model) in page.text
    assert f"x{np.argmax(model.coef_[0])}" in page.text
    assert pegasos.__version__ in page.text
    assert len([one for one in page.all("svg") if "data-points" in one]) == 7  # bounds and gap twice, and three more


def test_figures_are_those_of_scikit_learn():
    model, X, y = CASES["two_classes"]()
    found, predicted = judge(model, X, y), model.predict(X)
    np.testing.assert_array_equal(found.confusion, confusion_matrix(y, predicted))
    precision, recall, f1, counts = precision_recall_fscore_support(y, predicted)
    for k, rates in enumerate(found.rates):
        np.testing.assert_allclose((rates.precision, rates.recall, rates.f1), (precision[k], recall[k], f1[k]))
        assert rates.n_true == counts[k]
    (curve,) = found.curves
    scores = model.decision_function(X)
    assert curve.area == pytest.approx(roc_auc_score(y, scores))
    assert curve.average_precision == pytest.approx(average_precision_score(y, scores))
    assert found.error == pytest.approx(1 - model.score(X, y))


def test_figures_of_more_classes():
    model, X, y = CASES["three_classes"]()
    found = judge(model, X, y)
    np.testing.assert_array_equal(found.confusion, confusion_matrix(y, model.predict(X)))
    scores = model.decision_function(X)
    areas = [roc_auc_score(y == label, scores[:, k]) for k, label in enumerate("abc")]
    np.testing.assert_allclose([curve.area for curve in found.curves], areas)
    assert len(found.margins) == len(y)
    page = Page(pegasos.report(model, X, y).html)
    assert "'a' against the rest" in page.text
    assert f"{areas[0]:.4f}" in page.text


def test_curves_of_many_points_are_thinned_along_their_length():
    rare = make_classification(20_000, 5, weights=[0.99], flip_y=0.02, random_state=0)
    model = LinearSVC(random_state=0, tol=0.1).fit(*rare)
    (curve,) = judge(model, *rare).curves
    assert len(curve.recall) <= 152
    assert np.abs(np.diff(curve.recall)).max() < 0.05


def test_figures_of_values():
    model, X, y = CASES["values"]()
    found = judge(model, X, y)
    assert found.r2 == pytest.approx(model.score(X, y))
    page = Page(pegasos.report(model, X, y).html)
    assert {"errors", "features"} <= {one["id"] for one in page.all("section")}
    assert f"{np.abs(model.predict(X) - y).mean():,.6g}" in page.text


def test_figures_of_sequences():
    model, X, y = CASES["sequences"]()
    scores = chunk_scores(y, model.predict(X))
    found = judge(model, X, y)
    assert found.chunks == scores
    assert found.n_examples == sum(map(len, y))
    page = Page(pegasos.report(model, X, y).html)
    assert {"chunks", "transitions", "margins"} <= {one["id"] for one in page.all("section")}
    plain = SequenceSVC(C=1.0, random_state=0).fit(X, [[0 if tag == "O" else 1 for tag in own] for own in y])
    assert judge(plain, X, [[0 if tag == "O" else 1 for tag in own] for own in y]).chunks is None


def test_hostile_names_are_text():
    page = Page(page_of("hostile", title=HOSTILE[0], data=HOSTILE[1]).html)
    assert page.all("img") == []
    assert len(page.all("script")) == 1
    assert HOSTILE[0] in page.text
    assert HOSTILE[1] in page.text
    assert not any("onclick" in attributes or "onerror" in attributes for _, attributes in page.elements)
    assert "\0" not in page_of("hostile").html


def test_text_that_is_no_text_does_no_harm():
    assert escape("\ud800<") == "?&lt;"
    assert el("p", Markup("<b></b>"), None, ["x", ("&",)], hidden=False, aria_label='"') == (
        '<p aria-label="&quot;"><b></b>x&amp;</p>'
    )


def test_labels_that_the_model_does_not_know_are_wrong():
    model, X, y = CASES["three_classes"]()
    other = np.where(y == "a", "new", y)
    found = judge(model, X, other)
    assert found.n_unknown == np.sum(y == "a")
    assert found.error == pytest.approx(np.mean(model.predict(X) != other))
    assert "that the model does not know" in Page(pegasos.report(model, X, other).html).text
    assert judge(model, X, np.full(len(y), "new")) is None


def test_without_labels_it_is_about_the_fit():
    model, X, _ = CASES["two_classes"]()
    page = Page(pegasos.report(model, X).html)
    assert "errors" not in [one["id"] for one in page.all("section")]
    assert "about the fit alone" in page.text
    assert Page(pegasos.report(model).html).all("section")


def test_pages_of_other_models(tmp_path):
    X, y = make_classification(200, 5, random_state=0)
    cv = LinearSVCCV(Cs=4, random_state=0).fit(X, y)
    assert "path" in [one["id"] for one in Page(pegasos.report(cv, X, y).html).all("section")]
    stream = LinearSVC(solver="pegasos", alpha=0.01, random_state=0).partial_fit(X, y, classes=[0, 1])
    assert "learned in one pass" in Page(pegasos.report(stream, X, y).html).text
    texts, labels = ["good fine film", "bad dull film"] * 5, ["good", "bad"] * 5
    pipeline = make_pipeline(TfidfVectorizer(), LinearSVC(random_state=0)).fit(texts, labels)
    page = Page(pegasos.report(pipeline, texts, labels).html)
    assert "dull" in page.text
    for shape, against_rest in (("ovo", False), ("ovr", False), ("ovr", True)):
        svc = SVC(decision_function_shape=shape, multi_class="ovr" if against_rest else "ovo", random_state=0)
        page = Page(pegasos.report(svc.fit(X, np.arange(200) % 3), X, np.arange(200) % 3).html)
        assert ("margins" in [one["id"] for one in page.all("section")]) == against_rest  # votes have none
    mapped = FeatureMapSVC(lambda x, label: np.outer(np.arange(2) == label, x).ravel()).fit(X, y)
    assert "errors" in [one["id"] for one in Page(pegasos.report(mapped, X, y).html).all("section")]
    io.write_dataset(tmp_path / "data", X, y)
    dataset = io.open_dataset(tmp_path / "data")
    assert "of 200 wrong" in Page(pegasos.report(LinearSVC(random_state=0).fit(X, y), dataset).html).text


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(random_state=0, solver=Pegasos(batch_size=2), tol=0.1),
        make_pipeline("passthrough", LinearSVC(C=np.float64(0.1), class_weight={0: np.float32(2)}, random_state=0)),
        make_pipeline(SVC(C=np.inf, tol=0.1, random_state=0)),
        LinearSVC(cost=np.array([[0.0, 2.0], [1.0, 0.0]]), multi_class="joint", random_state=0),
        make_pipeline("passthrough", ColumnTransformer([("some", StandardScaler(), [0, 1, 2])]), SVC(random_state=0)),
    ],
)
def test_the_code_to_repeat_it_runs(model, tmp_path, monkeypatch):
    X, y = make_classification(100, 5, random_state=0)
    model.fit(X, y)
    (code,) = re.findall("<code>(.*?)</code>", pegasos.report(model, X, y).html, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names = {"X": X, "y": y}
    exec(html.unescape(code), names)
    np.testing.assert_array_equal(names["model"].decision_function(X), model.decision_function(X))
    assert (tmp_path / "report.html").exists()


def test_other_examples_than_those_of_the_fit():
    model, X, y = CASES["two_classes"]()
    page = pegasos.report(model, X, y, training=False)
    assert "model.fit(X_train, y_train)" in page.html
    assert "pegasos.report(model, X, y, training=False)" in page.html


def test_what_is_not_known_of_the_examples_is_told():
    """To readers: they cannot fit again."""
    told = "Whether it was trained on these is not known here."
    assert told in page_of("two_classes").html
    assert "pass training=True" not in page_of("two_classes").html
    assert told not in page_of("two_classes", training=True).html
    assert told not in page_of("two_classes", training=False).html


def test_seconds_of_several_problems_begin_with_each():
    assert "seconds since each problem began" in page_of("three_classes").html
    assert "seconds since each problem began" not in page_of("two_classes").html


def test_what_is_not_bounded_has_no_gap():
    model, X, y = CASES["two_classes"]()
    model = LinearSVC(C=0.1, solver="interior-point", random_state=0).fit(X, y)
    assert np.isinf(model.history_["gap"]).any()
    page = pegasos.report(model, X, y).html
    assert "no bound yet" in page
    assert "gap inf" not in page
    assert ">inf<" not in page
    assert "passes over the examples" in page
    passes = round(model.history_["epoch"][-1])
    assert f"reached it after {passes} passes" in page
    assert f"{passes} passes, {model.n_iter_} epochs" in page
    assert f'<span class="note">{passes} passes</span>' in page
    assert "passes over the examples" not in page_of("two_classes").html


def test_what_is_no_code_is_told_of():
    X, y = make_classification(50, 5, random_state=0)
    page = pegasos.report(SVC(kernel=lambda A, B: A @ B.T, random_state=0).fit(X, y), X, y)
    assert "What cannot be written as code" in page.html


def test_what_a_search_found_is_asked_for():
    X, y = make_classification(60, 5, random_state=0)
    search = GridSearchCV(LinearSVC(random_state=0), {"C": [0.1, 1.0]}, cv=2).fit(X, y)
    with pytest.raises(TypeError, match="pass what it fitted, its best_estimator_"):
        pegasos.report(search, X, y)


def test_training_is_a_yes_or_a_no():
    model, X, y = CASES["two_classes"]()
    with pytest.raises(TypeError, match="training='no': must be True, False"):
        pegasos.report(model, X, y, training="no")


def test_many_classes_have_a_list_of_what_is_confused():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 6)), np.arange(400) % 40
    with pytest.warns(match="converge|reach"):
        model = LinearSVC(max_iter=20, tol=1e-9, solver="pegasos", random_state=0).fit(X, y)
    page = Page(pegasos.report(model, X, y).html)
    assert "taken for others most often" in page.text
    assert "hardest of 40 classes" in page.text
    assert "the 7 worst of 40 problems" in page.text
    assert "did not converge" in page.text


def test_not_fitted_is_an_error():
    with pytest.raises(NotFittedError):
        pegasos.report(LinearSVC())


def test_words_of_certificates():
    model, *_ = CASES["two_classes"]()
    found = model.certificate_
    assert any("within" in text for text in sentences(found, 0.01, "4 epochs"))
    unknown = replace(found, gap=np.inf, dual=-np.inf, converged=False, reason="indefinite")
    assert "Nothing is known about the best possible." in " ".join(sentences(unknown, 0.01, "4 epochs"))
    assert "no bound" in " ".join(sentences(unknown, 0.01, "4 epochs"))
    assert "The margin reached is" in sentences(found, 0.01, "4 epochs", maximises_margin=True)[0]
    assert "takes for granted that x" in " ".join(sentences(replace(found, assumed="x"), 0.01, "4 epochs"))


def test_tol_zero_asks_for_nothing():
    X, y = vectors(3)
    model = LinearSVC(tol=0, max_iter=2, random_state=0).fit(X, y)
    assert model.certificate_.converged is None
    assert all(part.converged is None for part in model.certificate_.parts)
    page = Page(pegasos.report(model).html)
    assert "Convergence not asked" in page.text
    assert "none was asked to converge" in page.text
    assert page.text.count("not asked") == 4


def test_a_gap_that_says_nothing_is_short():
    """In per cent it had more digits than a phone has room for."""
    model, *_ = CASES["two_classes"]()
    model.certificate_ = replace(model.certificate_, gap=1.4928858629087454e14, dual=1e-13, converged=False)
    page = Page(pegasos.report(model).html)
    assert page.text.count("1.5e+14 times") == 2
    assert "a bound that says little" in page.text
    assert "858,629" not in page.text


def test_the_solvers_of_several_problems_are_all_told():
    model, *_ = CASES["three_classes"]()
    parts = model.certificate_.parts
    model.certificate_ = replace(model.certificate_, parts=(replace(parts[0], solver="InteriorPoint()"), *parts[1:]))
    page = Page(pegasos.report(model).html)
    assert f"in 2 of 3 {parts[1].solver}; in 1 of 3 InteriorPoint()" in page.text


def test_lines_are_told_apart_without_colour():
    page = Page(page_of("three_classes").html)
    keys = [one["class"] for one in page.all("line") if one.get("y1") == "5" and one.get("y2") == "5"]
    assert keys
    lines = [one["class"] for one in page.all("polyline")]
    assert set(keys) <= set(lines)
    assert {"line s0 d0", "line s1 d1", "line s2 d2"} <= set(keys)


def test_the_names_of_axes_are_above_the_labels():
    """They crossed labels that are wide."""
    lines = [series("a", [0.0, 1.0], [123_456.1, 123_456.2], ["", ""])]
    texts = Page(line_chart("Title", "", lines, "x", "y")).all("text")
    (name,) = [one for one in texts if one.get("class") == "name" and one["x"] == "0"]
    labels = [one for one in texts if one.get("text-anchor") == "end"]
    assert float(name["y"]) < min(float(one["y"]) for one in labels) - 12
    assert min(float(one["x"]) for one in labels) > 8 * len("123,456.10")


def test_bars_of_weights_have_a_common_zero():
    page = Page(page_of("two_classes").html)
    (zero,) = {one["style"] for one in page.all("span") if one.get("class") == "room"}
    zero = float(zero.removeprefix("--zero:").removesuffix("%"))
    assert 0 < zero < 100
    for one in page.all("span"):
        if one.get("class", "").startswith("weight"):
            width, left = (float(part.partition(":")[2].removesuffix("%")) for part in one["style"].split(";"))
            end = left if one["class"] == "weight for" else left + width
            assert end == pytest.approx(zero, abs=0.11)
    model, X, y = CASES["two_classes"]()
    model.coef_ = 6120.0 * np.sign(model.coef_)
    assert "+6120<" in pegasos.report(model, X, y).html


def test_the_choice_of_C_is_marked():
    X, y = make_classification(200, 5, random_state=0)
    model = LinearSVCCV(Cs=4, rule="one_standard_error", random_state=0).fit(X, y)
    page = pegasos.report(model, X, y).html
    chart = page[page.index('id="path"') : page.index('id="errors"')]
    assert "Error along C" in chart
    assert f">C = {model.C_:.3g}</text>" in chart
    assert chart.count('class="line s0"') == 4  # bars
    assert "the smallest within one standard error of the best" in chart


def test_a_solver_that_began_late_begins_at_0():
    model, X, y = CASES["two_classes"]()
    model.history_["seconds"] = 10 + model.history_["epoch"] / 1000
    page = pegasos.report(model, X, y).html
    assert "seconds since the solver began" in page


def test_save_and_show(tmp_path):
    report = page_of("kernel")
    report.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == str(report)
    assert "characters" in repr(report)
    frame = Page(report._repr_html_()).all("iframe")[0]
    assert frame["srcdoc"] == report.html
    assert frame["sandbox"].split() == ["allow-scripts", "allow-popups", "allow-popups-to-escape-sandbox"]
    assert 'target="_blank"' in report.html  # or the docs would take the place of the page


@pytest.mark.parametrize(("low", "high", "log"), [(0, 1, False), (-3, 1e7, False), (1e-5, 3, True), (1, 1, False)])
@pytest.mark.parametrize("narrow", [1.0, 1e-3])
def test_ticks_are_round_and_within(low, high, log, narrow):
    scale = Scale(low, low + (high - low) * narrow, 0.0, 100.0, log)
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 13
    assert all(-1e-6 <= scale(value) <= 100 + 1e-6 for value, _ in ticks)
    assert len({text for _, text in ticks}) == len(ticks)


def test_lines_have_no_more_points_than_can_be_told_of():
    line = series("x", np.arange(10_000), np.append(np.nan, np.arange(9_999)), [str(k) for k in range(10_000)])
    assert len(line.x) <= MOST_POINTS
    assert line.tips[0] == "1"
    assert line.tips[-1] == "9999"


def test_no_matplotlib_is_needed():
    code = (
        "import sys, pegasos; from sklearn.datasets import make_blobs\n"
        "X, y = make_blobs(50, centers=2, random_state=0)\n"
        "pegasos.report(pegasos.LinearSVC().fit(X, y), X, y); sys.exit('matplotlib' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_page_is_the_same_again_but_for_times():
    texts = [re.sub(r"\d[\d.e-]* (ms|µs|s)|\d{4}-\d\d-\d\d \d\d:\d\d UTC", "", page_of("sequences").html) for _ in "ab"]
    shorter = [re.sub(r"<svg.*?</svg>|<td class=\"n\">[^<]*</td>", "", text, flags=re.DOTALL) for text in texts]
    assert shorter[0] == shorter[1]


def test_margins_of_any_size():
    """On unscaled data a bin may have both what is within the margin and what is beyond."""
    X, y = make_classification(60, 4, random_state=0)
    clf = LinearSVC(random_state=0, fit_intercept=False).fit(X, y)
    largest = np.abs(clf.decision_function(X)).max()
    for size in [1e-3, 1.0, *range(20, 80, 4), 1e4]:
        clf.coef_, largest = size * clf.coef_ / largest, size
        assert "Histogram of margins" in pegasos.report(clf, X, y).html


@pytest.mark.parametrize("classes", [2, 3])
def test_labels_that_are_objects(classes):
    X, y = make_classification(90, 6, n_informative=4, n_classes=classes, random_state=0)
    names = np.array([f"class {label}" for label in y], dtype=object)
    clf = LinearSVC(random_state=0).fit(X, names)
    assert "class 1" in pegasos.report(clf, X, names).html


def test_curves_of_classes_trained_jointly_go_by_differences():
    X, y = make_classification(300, 8, n_informative=6, n_classes=3, random_state=0)
    X = np.hstack([X, X.sum(axis=1, keepdims=True)])
    clf = LinearSVC(multi_class="joint", random_state=0).fit(X, y)
    scores = clf.decision_function(X)
    for curve in judge(clf, X, y).curves:
        others = np.delete(scores, curve.label, axis=1).max(axis=1)
        assert curve.area == pytest.approx(roc_auc_score(y == curve.label, scores[:, curve.label] - others))


def test_what_is_no_report_is_not_replaced(tmp_path):
    X, y = make_classification(40, 4, random_state=0)
    page, path = pegasos.report(LinearSVC(random_state=0).fit(X, y)), tmp_path / "train.csv"
    path.write_text("a,b\n")
    with pytest.raises(FileExistsError, match="is no report"):
        page.save(path)
    assert path.read_text() == "a,b\n"
    page.save(path, overwrite=True)
    page.save(path)


def test_refuses_what_it_cannot_report():
    from sklearn.svm import SVC as Other

    X, y = make_classification(40, 4, random_state=0)
    with pytest.raises(TypeError, match="no estimator of pegasos"):
        pegasos.report(Other().fit(X, y), X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        pegasos.report(LinearSVC(random_state=0).fit(X, y), X, y[:5])


def test_slips_are_told():
    X, y = make_classification(60, 5, random_state=0)
    clf = LinearSVC(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        pegasos.report(clf, X, y[:5])
    with pytest.raises(ValueError, match="top=-1: must be at least 0"):
        pegasos.report(clf, X, y, top=-1)
    with pytest.raises(ValueError, match="feature_names has 2 names for 5 features"):
        pegasos.report(clf, X, y, feature_names=["a", "b"])
    values = LinearSVR(random_state=0).fit(X, y)
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="y has targets that are not finite"):
            pegasos.report(values, X, np.where(y == 1, wrong, 0.0))
    tagger = SequenceSVC(random_state=0).fit([[["a"]], [["b"]]], [["A"], ["B"]])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        pegasos.report(tagger, [[["a"]], [["b"]]], [["A"]])
