"""``pegasos inspect``"""

import click
import numpy as np

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
    weights = fitted.coef_[0]
    names = getattr(fitted, "feature_names_in_", None)
    largest = [
        (str(names[j]) if names is not None else int(j) + 1, float(weights[j]))
        for j in np.argsort(-np.abs(weights), kind="stable")[:top]
        if weights[j] != 0
    ]
    problem = {"loss": fitted.loss, **({"C": fitted.C} if fitted.alpha is None else {"alpha": fitted.alpha})}
    problem["intercept"] = fitted.intercept if fitted.fit_intercept else "none"
    facts = {
        "model": model,
        "estimator": type(fitted).__name__,
        "problem": problem,
        "classes": fitted.classes_.tolist(),
        "features": fitted.n_features_in_,
        "nonzero": int(np.count_nonzero(weights)),
        "norm": float(np.linalg.norm(weights)),
        "intercept": float(fitted.intercept_[0]),
        "certificate": fitted.certificate_.to_dict(),
        "largest": largest,
    }
    if as_json:
        click.echo(as_json_text(facts))
        return
    problem_text = ", ".join(f"{name}={value}" for name, value in problem.items())
    click.echo(f"{facts['estimator']} ({problem_text}), classes {facts['classes'][0]} and {facts['classes'][1]}")
    click.echo(
        f"{facts['features']:,} features, {facts['nonzero']:,} with a weight; norm {facts['norm']:.6g}, "
        f"intercept {facts['intercept']:.6g}"
    )
    click.echo(str(fitted.certificate_))
    if largest:
        click.echo("largest weights (features count from 1)" if names is None else "largest weights")
        for name, weight in largest:
            click.echo(f"  {name:>12}  {weight:+.6g}")
