"""A page on a fitted model: one file, which opens anywhere and needs no network."""

import base64
import hashlib
import html
import os
import re
import sys
import time
from importlib.resources import files
from typing import Any

from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from pegasos.base.estimator import Machine
from pegasos.base.notebook import docs_address
from pegasos.base.wording import counted
from pegasos.certificate import Certificate, rounds
from pegasos.config import config
from pegasos.io.atomic import open_atomic
from pegasos.reporting import fit, predictions, words
from pegasos.reporting.markup import Markup, details, el, number, percent, seconds, table
from pegasos.reporting.quality import Labelled, Quality, Valued, judge
from pegasos.summary import feature_names_of, has_weights, largest_weights, machine_of

#: What a report begins with, by which it is known.
MARK = "<!-- pegasos report -->"


class Report:
    """A page as HTML; notebooks show it in a frame.

    Attributes
    ----------
    html : str
        The page.
    """

    def __init__(self, text: str) -> None:
        self.html = text

    def __str__(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return f"<report of {len(self.html):,} characters; save(path) writes it>"

    def _repr_html_(self) -> str:
        allowed = "allow-scripts allow-popups allow-popups-to-escape-sandbox"  # the link to the docs opens elsewhere
        frame = f'sandbox="{allowed}" style="width:100%;height:48em;border:1px solid #8888;border-radius:6px"'
        return f'<iframe {frame} title="report" srcdoc="{html.escape(self.html, quote=True)}"></iframe>'

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the page to a file, whole or not at all. A file that is no report is replaced only with `overwrite`."""
        if not overwrite and os.path.isfile(path) and not is_report(path):
            raise FileExistsError(
                f"{os.fspath(path)} exists and is no report; name another file, or pass overwrite=True to replace it"
            )
        with open_atomic(path) as file:
            file.write(self.html.encode())


def report(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    data: str = "",
    training: bool | None = None,
    feature_names: ArrayLike | None = None,
    top: int = 10,
    repeat: str | None = None,
    timings: dict[str, float] | None = None,
) -> Report:
    """Make a page on a fitted model and its predictions: one HTML file that needs no other file and no network.

    The page shows the certificate in plain words, the convergence of the fit, errors, margins, curves and the largest
    weights, and how to repeat the fit. Charts show the values of their points under the pointer, by touch and by the
    arrow keys, and have tables as an alternative. Names and labels are shown as text, whatever they contain.

    Parameters
    ----------
    estimator : estimator or Pipeline
        A fitted model.
    X, y : default=None
        Examples with labels or targets, as `predict` takes them; a data set on disk contains the labels. Without X the
        page covers the fit alone.
    title : str, default=None
        The title of the page.
    data : str, default=""
        The name of the examples.
    training : bool, default=None
        Whether the model was fitted to these examples; the page then says so.
    feature_names : array-like of str, default=None
        The names of the features. None means the names that the model has, otherwise x0, x1, ...
    top : int, default=10
        How many of the largest weights of each sign to show.
    repeat : str, default=None
        The command or code that makes the same model. None makes it from the parameters.
    timings : dict from str to float, default=None
        Seconds of other steps, by their names.

    Returns
    -------
    Report
        Its ``save(path)`` writes the page.

    Examples
    --------
    >>> import pegasos
    >>> from sklearn.datasets import load_breast_cancer
    >>> data = load_breast_cancer(as_frame=True)
    >>> clf = pegasos.LinearSVC(scale=True, intercept="free", random_state=0).fit(data.data, data.target)
    >>> page = pegasos.report(clf, data.data, data.target, data="breast cancer", training=True)
    >>> "worst concave points" in page.html
    True
    """
    machine = machine_of(estimator)
    if not isinstance(machine, Machine) and not hasattr(machine, "certificate_"):
        remedy = "pegasos.from_sklearn takes models of scikit-learn's"
        if hasattr(machine, "estimator"):  # of a search, or another one that holds estimators
            held = "best_estimator_" if hasattr(machine, "best_estimator_") else "estimators_ or estimator_"
            remedy = f"pass what it fitted, its {held}"
        raise TypeError(
            f"{type(machine).__name__} is no estimator of pegasos, and its fit has no certificate to report; {remedy}"
        )
    check_is_fitted(machine)
    if not isinstance(training, bool | None):
        raise TypeError(f"training={training!r}: must be True, False, or None where it is not known")
    started = time.perf_counter()
    quality = judge(estimator, X, y)
    times = dict(timings or {})
    found: Certificate | None = getattr(machine, "certificate_", None)
    if found is not None:
        times["the fit"] = found.seconds
    if quality is not None:
        times["predictions for this page"] = time.perf_counter() - started
    name = type(machine).__name__
    title = title or (f"{name} on {data}" if data else name)
    largest = []
    if has_weights(estimator):
        largest = largest_weights(estimator, top, feature_names_of(estimator, feature_names))
    made = [
        fit.certificate(machine, found),
        fit.convergence(machine),
        fit.along_C(machine),
        *([] if quality is None else predictions.sections(quality)),
        fit.features(largest, int(getattr(machine, "n_features_in_", 0))),
        fit.transitions(machine),
        _timings(times, found),
        _again(estimator, repeat, training),
    ]
    sections = [one for one in made if one is not None]
    body = [
        _head(machine, title, found, quality, X, data, training),
        _contents(sections),
        el("main", sections),
        el("footer", _footer()),
    ]
    return Report(_page(title, body))


def _head(
    machine: Any,
    title: str,
    found: Certificate | None,
    quality: Quality | None,
    X: Any,
    data: str,
    training: bool | None,
) -> Markup:
    lines = [f"{words.problem(machine)}, by pegasos."]
    if quality is not None:
        of = f"{counted(quality.n_examples, quality.noun if isinstance(quality, Labelled) else 'example')}"
        where = f" of {data}" if data else ""
        lines.append(f"It is judged by {of}{where}{_shape(X)}.")
        if training:
            lines.append("These are what it was trained on: expect larger errors on others.")
        elif training is False:
            lines.append("It was not trained on these.")
        else:
            lines.append("Whether it was trained on these is not known here.")
    else:
        lines.append("There are no labels that it knows to judge it by, so this page is about the fit alone.")
    tiles = []
    if found is not None:
        text, good = words.headline(found)
        tiles.append(_tile("Fit", text, fit.work_done(machine, found), "good" if good else "bad"))
        asked = f"asked for {100 * machine.tol:.2g}%" if machine.tol > 0 else "at the end"
        tiles.append(_tile("Gap to the optimum", fit.relative_or_none(found), asked))
    tiles += _quality_tiles(quality)
    if found is not None:
        tiles.append(_tile("Time of the fit", seconds(found.seconds), found.solver.partition("(")[0]))
    return el("header", el("h1", title), el("p", " ".join(lines)), el("div", tiles, class_="tiles"))


def _quality_tiles(quality: Quality | None) -> list[Markup]:
    if isinstance(quality, Valued):
        return [_tile("R²", number(quality.r2, 4), f"{number(quality.n_examples)} examples")]
    if quality is None:
        return []
    wrong = f"{number(quality.n_wrong)} of {number(quality.n_examples)} wrong"
    tiles = [_tile("Error", percent(quality.error, 2), wrong)]
    if quality.chunks is not None:
        tiles.append(_tile("F1 of chunks", percent(quality.chunks.f1, 2), f"{number(quality.chunks.n_true)} chunks"))
    return tiles


def _tile(name: str, value: str, note: str, kind: str | None = None) -> Markup:
    made = [el("span", name, class_="label"), el("strong", value), el("span", note, class_="note")]
    return el("div", made, class_=f"tile {kind or ''}".strip())


def _contents(sections: list[fit.Section]) -> Markup:
    entries = [el("li", el("a", one.heading, href=f"#{one.name}")) for one in sections]
    return el("nav", el("ul", entries), aria_label="Sections")


def _shape(X: Any) -> str:
    shape = getattr(X, "shape", None)
    if shape is None or len(shape) != 2:
        return ""
    entries = f", {number(int(X.nnz))} entries that are not zero" if issparse(X) else ""
    return f" with {counted(shape[1], 'feature')}{entries}"


def _timings(times: dict[str, float], found: Certificate | None) -> fit.Section | None:
    if not times:
        return None
    rows = [(name.capitalize(), seconds(value), f"{value:.4g}") for name, value in times.items()]
    text = None
    if found is not None and found.seconds > 0 and found.n_iter:
        each = seconds(found.seconds / found.n_iter)
        text = el("p", f"The fit took {rounds(found)}, {each} each in the mean, checks included.")
    return fit.section("timings", "Timings", text, table(("What", "Time", "Seconds"), rows, "Timings", True))


def _again(estimator: Any, repeat: str | None, training: bool | None) -> fit.Section:
    machine = machine_of(estimator)
    parameters = machine.get_params(deep=False)
    try:
        defaults = type(machine)().get_params(deep=False)
    except TypeError:  # of one that has a parameter without a default
        defaults = {}
    set_here = {name for name, value in parameters.items() if repr(value) != repr(defaults.get(name))}
    order = sorted(parameters, key=lambda name: (name not in set_here, list(parameters).index(name)))
    rows = [
        (name, repr(parameters[name]), "set" if name in set_here else "default") for name in order
    ]  # fmt: skip
    code = repeat or _code(estimator, training)
    return fit.section(
        "again",
        "To repeat it",
        el("pre", el("code", code), tabindex="0", aria_label="What to run"),
        _seed_note(machine),
        details("Parameters", table(("Parameter", "Value", "Which is"), rows, "Parameters", text_columns=(0, 1, 2))),
        details("Versions", table(("What", "Version"), config().items(), "Versions", text_columns=(0, 1))),
    )


def _code(estimator: Any, training: bool | None) -> str:
    """A program that fits the same model again, where the examples are there."""
    steps = getattr(estimator, "steps", [("", estimator)])
    own = [step for _, step in steps if hasattr(step, "get_params")]  # others are "passthrough"
    parts = own + [part for step in own for part in step.get_params().values() if hasattr(part, "get_params")]
    imports = {f"from {_public_module(kind)} import {kind.__name__}" for kind in map(type, parts)}
    made = [" ".join(s.__repr__(N_CHAR_MAX=1_000_000).split()) if s in own else repr(s) for _, s in steps]
    if hasattr(estimator, "steps"):
        imports.add("from sklearn.pipeline import Pipeline")
        named = [f"    ({name!r}, {code}),\n" for (name, _), code in zip(steps, made, strict=True)]
        made = [f"Pipeline([\n{''.join(named)}])"]
    # As NumPy shows its numbers and arrays.
    imports |= {f"from numpy import {name}" for name in ("array", "inf", "nan") if re.search(rf"\b{name}\b", made[0])}
    if "np." in made[0]:
        imports.add("import numpy as np")
    fitted, judged = ("X_train, y_train", "X, y, training=False") if training is False else ("X, y", "X, y")
    lines = ["import pegasos", *sorted(imports), "", f"model = {made[0]}", f"model.fit({fitted})"]
    if re.search(r"<.*>|\bat 0x", made[0]):
        lines.insert(0, "# What cannot be written as code, such as a function, is to be given in its place.")
    return "\n".join([*lines, f'pegasos.report(model, {judged}).save("report.html")'])


def _public_module(kind: type) -> str:
    """Where users import it from: the modules of a package below its public one have names of their own."""
    module = kind.__module__
    while "." in module and hasattr(sys.modules.get(module.rpartition(".")[0]), kind.__name__):
        module = module.rpartition(".")[0]
    return module


def _seed_note(machine: Any) -> Markup | None:
    if getattr(machine, "random_state", 0) is not None:
        return None
    return el("p", "random_state was not set: another fit visits the examples in another order.", class_="note")


def _footer() -> Markup:
    made = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    address = docs_address("report.md")
    link = el("a", "how to read it", href=address, rel="noreferrer", target="_blank") if address else "how to read it"
    return el("p", f"Made by pegasos {config()['pegasos']}, {made}; ", link, ".")


def _page(title: str, body: list[Markup]) -> str:
    here = files("pegasos.reporting")
    style, script = ((here / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    known = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{known}'"
    head = [
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", title),
        Markup(f"<style>{style}</style>"),
    ]
    page = el("html", el("head", head), el("body", body, Markup(f"<script>{script}</script>")), lang="en")
    return f"<!doctype html>\n{MARK}\n{page}\n"


def is_report(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a page of this kind."""
    with open(path, "rb") as file:
        return MARK.encode() in file.read(200)
