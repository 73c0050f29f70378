"""What notebooks show of estimators, and the one line of a certificate."""

from dataclasses import fields, replace
from html.parser import HTMLParser

import pytest
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from pegasos import SVC, SVR, Certificate, FeatureMapSVC, LinearSVC, LinearSVCCV, LinearSVR, SequenceSVC, solvers
from pegasos.base.notebook import describe

DONE = Certificate(
    1.0, 0.9994, 6e-4, True, "tol", n_iter=4, seconds=0.141, solver="SDCA(order='permute') with n_jobs=1"
)


@pytest.fixture(scope="module")
def fitted():
    return LinearSVC(C=0.1, solver="sdca", random_state=0).fit(*make_classification(200, 5, random_state=0))


class Page(HTMLParser):
    """Text, links and tags of a page."""

    def __init__(self, text):
        super().__init__()
        self.texts, self.links, self.tags = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name == "href"]

    def handle_data(self, data):
        self.texts.append(data)


def test_a_certificate_is_one_line():
    assert repr(DONE) == "gap 0.0006, converged, 4 epochs, 0.14 s, SDCA"
    short = replace(DONE, gap=float("inf"), converged=False, reason="max_iter", n_iter=1)
    assert repr(short) == "gap inf, not converged (max_iter), 1 epoch, 0.14 s, SDCA"
    assert repr(replace(DONE, reason="max_iter")) == "gap 0.0006, stopped by max_iter, 4 epochs, 0.14 s, SDCA"
    unasked = replace(DONE, converged=None, reason="max_iter")
    assert repr(unasked) == "gap 0.0006, convergence not asked (max_iter), 4 epochs, 0.14 s, SDCA"
    assert "(convergence not asked: the budget of max_iter epochs was used up)" in str(unasked)
    assert "2, convergence not asked; the gap" in str(replace(unasked, parts=(unasked,) * 2))
    assert "</span>" not in describe(unasked)
    assert "17 epochs" in repr(replace(DONE, solver="InteriorPoint() with n_jobs=1", n_iter=17))
    parts = (replace(DONE, problem="'a' against the rest"),) * 3
    assert repr(replace(DONE, parts=parts)) == "gap 0.0006, converged, 4 epochs, 0.14 s, SDCA, 3 problems"
    assert repr(parts[0]).startswith("'a' against the rest, gap 0.0006")


def test_short_times_are_milliseconds():
    assert "1.3 ms" in repr(replace(DONE, seconds=0.00132))
    assert "seconds  0.0013\n" in str(replace(DONE, seconds=0.00132))
    assert "seconds  0.14\n" in str(DONE)


def test_what_did_not_converge_stands_out(fitted):
    assert "not converged</span>" not in describe(DONE)
    short = replace(DONE, converged=False, reason="max_iter")
    assert 'font-weight: bold">not converged</span> (max_iter)' in describe(short)
    assert repr(short) in "".join(Page(describe(short)).texts)
    assert 'style="color: inherit"' in describe(DONE)


def test_the_fields_are_all_there():
    assert {field.name for field in fields(Certificate)} == set(DONE.to_dict())
    assert replace(DONE) == DONE


def test_a_notebook_shows_certificate_and_solver(fitted):
    page = Page(fitted._repr_html_())
    text = "".join(page.texts)
    assert repr(fitted.certificate_) in text
    assert fitted.certificate_.solver in text
    assert any(link.endswith("/docs/certificates.md") for link in page.links)
    assert any(link.endswith("/docs/tutorial.md") for link in page.links)
    assert fitted._repr_mimebundle_()["text/html"].endswith(fitted._repr_html_()[-200:])
    assert fitted._repr_mimebundle_()["text/plain"] == repr(fitted)


def test_in_a_pipeline_it_is_a_caption(fitted):
    X, y = make_classification(200, 5, random_state=0)
    model = make_pipeline(StandardScaler(), LinearSVC(C=0.1, solver="sdca", random_state=0))
    assert "converged" not in "".join(Page(model._repr_html_()).texts)
    told = repr(model.fit(X, y)[-1].certificate_)
    assert "".join(Page(model._repr_html_()).texts).count(told) == 1
    assert "".join(Page(fitted._repr_html_()).texts).count(repr(fitted.certificate_)) == 1  # below, and no caption


def test_before_a_fit_there_is_no_certificate():
    assert "pegasos-certificate" not in LinearSVC()._repr_html_()
    with config_context(display="text"):
        assert "text/html" not in LinearSVC()._repr_mimebundle_()


def test_what_is_shown_is_escaped(fitted):
    class Hostile(solvers.SDCA):
        pass

    shown = LinearSVC(solver=Hostile()).fit(*make_classification(200, 5, random_state=0))
    shown.certificate_ = replace(fitted.certificate_, solver="<script>alert(1)</script>", reason="<b>")
    assert "<script>alert" not in shown._repr_html_()


@pytest.mark.parametrize(
    ("estimator", "page"),
    [
        (LinearSVC(), "tutorial"),
        (LinearSVR(), "regression"),
        (SVC(), "kernel"),
        (SVR(), "kernel"),
        (SequenceSVC(), "sequence"),
        (FeatureMapSVC(len), "feature-map"),
        (LinearSVCCV(), "path"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_estimators_link_to_their_page(estimator, page):
    assert any(link.endswith(f"/docs/{page}.md") for link in Page(estimator_html_repr(estimator)).links)
