"""What stands on the estimators uses their public names, and those of the modules below."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "pegasos"
MODULES = sorted(path for folder in ("cli", "dask", "plot", "reporting") for path in (PACKAGE / folder).rglob("*.py"))


def private_names(text: str) -> Iterator[str]:
    """The private names of this package that a module imports, and those it asks any object for by `getattr`.

    ruff finds the other attributes (SLF001).
    """
    for node in ast.walk(ast.parse(text)):
        found = []
        if isinstance(node, ast.Import):
            found = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = [f"{node.module}.{one.name}" for one in node.names]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr"):
            found = [f"pegasos.{one.value}" for one in node.args[1:2] if isinstance(one, ast.Constant)]
        for name in found:
            top, *rest = name.split(".")
            if top == "pegasos" and any(part.startswith("_") and not part.startswith("__") for part in rest):
                yield name


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from pegasos.io import _atomic", ["pegasos.io._atomic"]),
        ("from pegasos._threads import usable_threads", ["pegasos._threads.usable_threads"]),
        ("import pegasos._core.native", ["pegasos._core.native"]),
        ("last = getattr(model, '_last', None)", ["pegasos._last"]),
        ("from sklearn.utils import _safe_indexing", []),
        ("from pegasos import __version__; from pegasos.io import save_model; getattr(model, name)", []),
    ],
)
def test_private_names_are_found(text, found):
    assert list(private_names(text)) == found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_private_name(path):
    allowed = ["pegasos._length"] if path.name == "partitions.py" else []  # of Dask's delayed values
    assert list(private_names(path.read_text(encoding="utf-8"))) == allowed
