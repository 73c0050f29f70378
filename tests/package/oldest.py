"""Prints the oldest versions that pyproject.toml allows of what the package depends on, as constraints for pip."""

import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def oldest() -> list[str]:
    """One ``name==version`` for each dependency, the first release of that version."""
    stated = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    return [one.replace(">=", "==") for one in stated]


if __name__ == "__main__":
    print(*oldest(), sep="\n")
