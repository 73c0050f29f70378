"""Prints the oldest versions of what the package and its tables need, by pyproject.toml, as constraints for pip."""

import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def oldest() -> list[str]:
    """One ``name==version`` for each dependency, the first release of that version."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    stated = project["dependencies"] + project["optional-dependencies"]["arrow"]
    return [one.replace(">=", "==") for one in stated]


if __name__ == "__main__":
    print(*oldest(), sep="\n")
