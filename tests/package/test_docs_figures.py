"""The figures of the documentation are there and are small, and the chart of solvers is that of the code."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import figures  # noqa: E402
import solver_chart  # noqa: E402

PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "guide").glob("*.md")]


@pytest.mark.parametrize("suffix", figures.INKS)
def test_the_chart_has_the_figures_of_the_code(suffix):
    drawn = (figures.FOLDER / f"choosing{suffix}.svg").read_text(encoding="utf-8")
    assert drawn == solver_chart.chart(figures.INKS[suffix]), "python docs/figures.py draws it anew"


def test_the_chart_follows_what_auto_chooses(monkeypatch):
    monkeypatch.setattr(solver_chart.auto, "MOST_FEATURES", 12_345)
    assert "12,345 features" in solver_chart.chart("#000000")


def test_every_figure_is_on_a_page_and_small():
    shown = {name for page in PAGES for name in re.findall(r"figures/([\w.-]+)", page.read_text(encoding="utf-8"))}
    files = {file.name: file for file in figures.FOLDER.iterdir()}
    assert set(files) == set(figures.files()) == shown
    assert all(file.stat().st_size < 100_000 for file in files.values())


@pytest.mark.parametrize("suffix", figures.INKS)
def test_the_bars_are_those_of_the_run(suffix):
    drawn = (figures.FOLDER / f"peers{suffix}.svg").read_text(encoding="utf-8")
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    for one in figures.shown_peers():
        told = [one.package, f"{one.mean:.1f}×", f"{one.reached} of {one.stated}"]  # noqa: RUF001
        assert set(told) <= set(texts), "python docs/figures.py peers draws it anew"
