"""The tables of the documentation are those that docs/tables.py makes of the code."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("tables", ROOT / "docs" / "tables.py")
assert SPEC is not None
assert SPEC.loader is not None
tables = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tables)


@pytest.mark.parametrize("path", tables.FILES)
def test_the_tables_are_what_the_code_says(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    assert "<!-- table" in text
    assert tables.written(path) == text, "python docs/tables.py writes them anew"
