"""``pegasos inspect``"""

from functools import singledispatch
from itertools import combinations
from typing import Any

import click
import numpy as np
from scipy.sparse import issparse

from pegasos.base.parameters import loss_parameter
from pegasos.cli.forms import machine_of, template_of, vectorizer_of
from pegasos.cli.options import Path, as_json_text
from pegasos.cli.talk import echo
from pegasos.io import load_model
from pegasos.kernel.estimator import KernelMachine
from pegasos.linear.estimator import LinearMachine
from pegasos.sequence.svc import SequenceSVC
from pegasos.sequence.templates import Template
from pegasos.summary import multi_class_of

Told = tuple[dict[str, Any], list[str]]  # facts for machines, and lines


@click.command(short_help="Show what is in a model.")
@click.argument("model", type=Path())
@click.option("--top", type=click.IntRange(min=0), help="how many of the largest weights to list [5]")
@click.option("--json", "as_json", is_flag=True, help="print as one JSON object")
def inspect(model: str, top: int | None, as_json: bool) -> None:
    """Show what is in MODEL: the problem, the certificate, and the largest weights.

    Linear models, and those with --kernel linear, have weights of features.

    \b
    Examples:
      pegasos inspect news.model
      pegasos inspect --top 20 news.model                    more of the largest weights
      pegasos inspect --json news.model | jq .certificate.gap
    """
    fitted, asked, top = load_model(model), top is not None, 5 if top is None else top
    machine, vectorizer = machine_of(fitted), vectorizer_of(fitted)
    if vectorizer is not None:
        machine.feature_names_in_ = vectorizer.get_feature_names_out()
    facts, lines = tell(machine, top)
    template = template_of(fitted)
    if template is not None:
        more, told = _tell_template(template)
        facts, lines = facts | more, [lines[0], *told, *lines[1:]]
    if vectorizer is not None and hasattr(machine, "classes_"):
        more, told = _tell_words(machine, top)
        facts, lines = facts | more, [*lines[: len(lines) - len(_largest_lines("", facts["largest"]))], *told]
    echo(*[as_json_text("inspect", {"model": model} | facts)] if as_json else lines)
    if asked and "largest" not in facts:
        why = f"its kernel is {machine.kernel}, so that features have no weights of their own"
        echo(f"pegasos: --top has nothing to show: {why}", err=True)


@singledispatch
def tell(fitted: Any, top: int) -> Told:
    """What is in a model."""
    raise TypeError(f"nothing is known of a {type(fitted).__name__}")


@tell.register(LinearMachine)
def _tell_linear(fitted: Any, top: int) -> Told:
    weights = np.atleast_2d(fitted.coef_)
    several = len(weights) > 1
    problem = {"loss": fitted.loss, **_weight_of_loss(fitted)}
    problem["intercept"] = fitted.intercept if fitted.fit_intercept else "none"
    if several:
        problem["multi_class"] = multi_class_of(fitted)
    name, value = loss_parameter(fitted)
    if hasattr(fitted, name):
        problem[name] = value
    facts, lines = _begin(fitted, problem)
    classes, named = facts["classes"], hasattr(fitted, "feature_names_in_")
    facts |= {
        **_weights(weights),
        "intercept": fitted.intercept_.tolist() if several else float(fitted.intercept_[0]),
        **_result(fitted)[0],
        "largest": _largest(weights, fitted.feature_names_in_ if named else None, top, classes if several else None),
    }
    intercept = "" if several else f", intercept {facts['intercept']:.6g}"
    lines += [f"{_weights_text(facts)}{intercept}", *_result(fitted)[1]]
    lines += _largest_lines("largest weights" if named else "largest weights (features count from 1)", facts["largest"])
    return facts, lines


def _result(fitted: Any) -> Told:
    """How a fit ended, or how well a stream was predicted."""
    told = getattr(fitted, "progressive_", None)
    if told is not None:
        error = "mean squared error" if hasattr(fitted, "epsilon") else "error"
        text = f"progressive loss {told.loss:.6g}, {error} {told.error:.6g}, {told.n_rows:,} examples met once"
        return {"progressive": told._asdict()}, [text]
    lines = str(fitted.certificate_).split("\n")
    for label, part in zip(getattr(fitted, "classes_", ()), fitted.certificate_.parts, strict=False):
        lines.append(f"  {label!s:>12}  primal {part.primal:.6g}  dual {part.dual:.6g}  gap {part.gap:.3g}")
    return {"certificate": fitted.certificate_.to_dict()}, lines


@tell.register(KernelMachine)
def _tell_kernel(fitted: Any, top: int) -> Told:
    problem = {"loss": fitted.loss, **_weight_of_loss(fitted), "intercept": "free" if fitted.fit_intercept else "none"}
    problem["kernel"] = fitted.kernel
    for name, kinds in {"gamma_": "rbf poly sigmoid", "coef0": "poly sigmoid", "degree": "poly"}.items():
        if fitted.kernel in kinds.split():
            problem[name.rstrip("_")] = getattr(fitted, name)
    name, value = loss_parameter(fitted)
    if hasattr(fitted, name):
        problem[name] = value
    if len(getattr(fitted, "classes_", ())) > 2:
        problem["multi_class"] = multi_class_of(fitted)
    facts, lines = _begin(fitted, problem)
    facts |= {
        "examples": fitted.shape_fit_[0],
        "features": fitted.n_features_in_,
        "support_vectors": len(fitted.support_),
        "n_support": fitted.n_support_.tolist(),
        "intercept": fitted.intercept_.tolist(),
        "certificate": fitted.certificate_.to_dict(),
    }
    of = f"{len(fitted.support_):,} support vectors of {facts['examples']:,} examples"
    lines += [f"{facts['features']:,} features, {of}", *str(fitted.certificate_).split("\n")]
    if fitted.kernel == "linear":
        weights = fitted.coef_.toarray() if issparse(fitted.coef_) else fitted.coef_
        names = getattr(fitted, "feature_names_in_", None)
        facts["largest"] = _largest(weights, names, top, _problems(fitted, len(weights)))
        title = "largest weights" if names is not None else "largest weights (features count from 1)"
        lines += _largest_lines(title, facts["largest"])
    return facts, lines


def _problems(fitted: Any, count: int) -> list[str] | None:
    """What the problems of several classes are called: by pairs, or by classes against the rest."""
    if count == 1:
        return None
    labels = fitted.classes_.tolist()
    if multi_class_of(fitted) == "ovr":
        return list(map(str, labels))
    return [f"{first} against {second}" for first, second in combinations(labels, 2)]


@tell.register(SequenceSVC)
def _tell_sequences(fitted: Any, top: int) -> Told:
    problem = {**_weight_of_loss(fitted), "boundaries": fitted.boundaries}
    if fitted.constraints is not None:
        named = isinstance(fitted.constraints, str)
        problem["constraints"] = fitted.constraints if named else f"{len(fitted.constraints)} links"
    if fitted.hash_bits is not None:
        problem["hash_bits"] = fitted.hash_bits
    facts, lines = _begin(fitted, problem)
    classes = facts["classes"]
    ends = [*classes, None]  # None is the start, and the end
    links = np.vstack([np.column_stack([fitted.transitions_, fitted.end_]), np.append(fitted.start_, 0)])
    facts |= {
        **_weights(fitted.coef_),
        "certificate": fitted.certificate_.to_dict(),
        "transitions": [(ends[j], ends[k], weight) for j, k, weight in _strongest(links, top)],
        "largest": _largest(fitted.coef_, fitted.feature_names_, top, classes),
    }
    lines += [_weights_text(facts), *str(fitted.certificate_).split("\n")]
    if facts["transitions"]:
        lines.append("largest weights of transitions")
    for before, after, weight in facts["transitions"]:
        link = f"{'start' if before is None else before} -> {'end' if after is None else after}"
        lines.append(f"  {link:>24}  {weight:+.6g}")
    return facts, lines + _largest_lines("largest weights of features", facts["largest"], 24)


def _tell_template(template: Template) -> Told:
    text = template.text if isinstance(template.text, str) else "\n".join(template.text)
    columns = template.n_features_in_
    line = f"{columns} column{'' if columns == 1 else 's'} before the label, by a template; --json shows it"
    return {"template": {"text": text, "columns": columns}}, [line]


def _tell_words(fitted: Any, top: int) -> Told:
    """The words that speak most for each class."""
    rows, names = np.atleast_2d(fitted.coef_), fitted.feature_names_in_
    weights = rows if len(rows) > 1 else np.vstack([-rows, rows])
    words = {}
    for label, own in zip(fitted.classes_.tolist(), weights, strict=True):
        best = [j for j in np.argsort(-own, kind="stable")[:top].tolist() if own[j] > 0]
        words[str(label)] = [(str(names[j]), float(own[j])) for j in best]
    width = max(map(len, words))
    texts = {label: ", ".join(f"{word} {weight:.3g}" for word, weight in own) for label, own in words.items()}
    lines = [f"  {label:>{width}}  {text}" for label, text in texts.items()]
    return {"words": words}, ["largest weights of words for each class", *lines] if top else []


def _begin(fitted: Any, problem: dict[str, Any]) -> Told:
    """What comes first, whatever the model."""
    classes = getattr(fitted, "classes_", np.empty(0)).tolist()
    facts = {"estimator": type(fitted).__name__, "problem": problem, "classes": classes}
    problem_text = ", ".join(f"{name}={value}" for name, value in problem.items())
    return facts, [f"{facts['estimator']} ({problem_text}){_class_text(classes)}"]


def _weight_of_loss(fitted: Any) -> dict[str, Any]:
    if fitted.alpha is None and hasattr(fitted, "progressive_"):  # AdaGrad has none
        return {}
    return {"C": fitted.C} if fitted.alpha is None else {"alpha": fitted.alpha}


def _class_text(classes: list[Any]) -> str:
    if not classes:
        return ""
    *most, last = map(str, classes)
    return f", classes {', '.join(most)} and {last}"


def _weights(weights: Any) -> dict[str, Any]:
    used = int(np.count_nonzero(weights.any(axis=0)))
    return {"features": weights.shape[1], "nonzero": used, "norm": float(np.linalg.norm(weights))}


def _weights_text(facts: dict[str, Any]) -> str:
    return f"{facts['features']:,} features, {facts['nonzero']:,} with a weight; norm {facts['norm']:.6g}"


def _strongest(weights: Any, top: int) -> list[tuple[int, int, float]]:
    """Row, column and value of the largest ones, whatever their sign; zero and what is not finite are none."""
    sizes = np.where(np.isfinite(weights), np.abs(weights), 0.0)
    places = (np.unravel_index(place, sizes.shape) for place in np.argsort(-sizes, axis=None, kind="stable")[:top])
    return [(int(j), int(k), float(weights[j, k])) for j, k in places if sizes[j, k] > 0]


def _largest(weights: Any, names: Any, top: int, classes: list[Any] | None) -> list[tuple[Any, ...]]:
    """The largest weights: of what feature, how large, and of several classes of which."""
    return [
        (str(names[j]) if names is not None else j + 1, weight, *([] if classes is None else [classes[k]]))
        for k, j, weight in _strongest(weights, top)
    ]


def _largest_lines(title: str, largest: list[tuple[Any, ...]], width: int = 12) -> list[str]:
    lines = [title] if largest else []
    for name, weight, *label in largest:
        lines.append(f"  {name:>{width}}  {weight:+.6g}{''.join(f'  of {each}' for each in label)}")
    return lines
