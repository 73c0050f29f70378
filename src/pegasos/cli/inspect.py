"""``pegasos inspect``"""

from typing import Any

import click
import numpy as np

from pegasos._kernel import KernelMachine
from pegasos.cli.options import as_json_text
from pegasos.io import load_model

__all__ = ["inspect"]


@click.command()
@click.argument("model")
@click.option("--top", type=click.IntRange(min=0), default=5, help="how many of the largest weights to list [5]")
@click.option("--json", "as_json", is_flag=True, help="print as one JSON object")
def inspect(model: str, top: int, as_json: bool) -> None:
    """Tell what is in MODEL: the problem, the certificate, the largest weights."""
    fitted = load_model(model)
    if isinstance(fitted, KernelMachine):
        _tell_kernel(model, fitted, as_json)
        return
    weights = np.atleast_2d(fitted.coef_)
    several = len(weights) > 1
    problem = {"loss": fitted.loss, **({"C": fitted.C} if fitted.alpha is None else {"alpha": fitted.alpha})}
    problem["intercept"] = fitted.intercept if fitted.fit_intercept else "none"
    if several:
        problem["multi_class"] = fitted.multi_class
    if hasattr(fitted, "epsilon"):
        problem["epsilon"] = fitted.epsilon
    classes = getattr(fitted, "classes_", np.empty(0)).tolist()
    largest = _largest(weights, getattr(fitted, "feature_names_in_", None), top, classes if several else None)
    facts = {
        "model": model,
        "estimator": type(fitted).__name__,
        "problem": problem,
        "classes": classes,
        "features": fitted.n_features_in_,
        "nonzero": int(np.count_nonzero(weights.any(axis=0))),
        "norm": float(np.linalg.norm(weights)),
        "intercept": fitted.intercept_.tolist() if several else float(fitted.intercept_[0]),
        "certificate": fitted.certificate_.to_dict(),
        "largest": largest,
    }
    if as_json:
        click.echo(as_json_text(facts))
        return
    problem_text = ", ".join(f"{name}={value}" for name, value in problem.items())
    click.echo(f"{facts['estimator']} ({problem_text}){_class_text(classes)}")
    intercepts = "" if several else f", intercept {facts['intercept']:.6g}"
    click.echo(
        f"{facts['features']:,} features, {facts['nonzero']:,} with a weight; norm {facts['norm']:.6g}{intercepts}"
    )
    click.echo(str(fitted.certificate_))
    for label, part in zip(classes, fitted.certificate_.parts, strict=False):
        click.echo(f"  {label!s:>12}  primal {part.primal:.6g}  dual {part.dual:.6g}  gap {part.gap:.3g}")
    if largest:
        counted = "" if hasattr(fitted, "feature_names_in_") else " (features count from 1)"
        click.echo(f"largest weights{counted}")
        for name, weight, *label in largest:
            click.echo(f"  {name:>12}  {weight:+.6g}{''.join(f'  of {each}' for each in label)}")


def _tell_kernel(model: str, fitted: Any, as_json: bool) -> None:
    """What is in a model with a kernel."""
    problem = {"loss": fitted.loss, **({"C": fitted.C} if fitted.alpha is None else {"alpha": fitted.alpha})}
    problem["intercept"] = "free" if fitted.fit_intercept else "none"
    kernel = fitted._fitted_kernel
    problem["kernel"] = getattr(kernel, "name", "precomputed")
    for name, kinds in {"gamma": "rbf poly sigmoid", "coef0": "poly sigmoid", "degree": "poly"}.items():
        if problem["kernel"] in kinds.split():
            problem[name] = getattr(kernel, name)
    if hasattr(fitted, "epsilon"):
        problem["epsilon"] = fitted.epsilon
    classes = getattr(fitted, "classes_", np.empty(0)).tolist()
    if len(classes) > 2:
        problem["multi_class"] = fitted.multi_class
    facts = {
        "model": model,
        "estimator": type(fitted).__name__,
        "problem": problem,
        "classes": classes,
        "examples": fitted.shape_fit_[0],
        "features": fitted.n_features_in_,
        "support_vectors": len(fitted.support_),
        "n_support": fitted.n_support_.tolist(),
        "intercept": fitted.intercept_.tolist(),
        "certificate": fitted.certificate_.to_dict(),
    }
    if as_json:
        click.echo(as_json_text(facts))
        return
    problem_text = ", ".join(f"{name}={value}" for name, value in problem.items())
    click.echo(f"{facts['estimator']} ({problem_text}){_class_text(classes)}")
    of = f"{len(fitted.support_):,} support vectors of {facts['examples']:,} examples"
    click.echo(f"{facts['features']:,} features, {of}")
    click.echo(str(fitted.certificate_))


def _class_text(classes: list[Any]) -> str:
    if not classes:
        return ""
    *most, last = map(str, classes)
    return f", classes {', '.join(most)} and {last}"


def _largest(weights: Any, names: Any, top: int, classes: list[Any] | None) -> list[tuple[Any, ...]]:
    """The largest weights: of what feature, how large, and of several classes of which."""
    found: list[tuple[Any, ...]] = []
    for place in np.argsort(-np.abs(weights), axis=None, kind="stable")[:top]:
        k, j = np.unravel_index(place, weights.shape)
        if weights[k, j] != 0:
            name = str(names[j]) if names is not None else int(j) + 1
            found.append((name, float(weights[k, j]), *([] if classes is None else [classes[k]])))
    return found
