"""What is told about the package, to PyPI and to readers, is true and of one mind."""

import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.package import cross, oldest, wheels

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HOME = PROJECT["urls"]["Homepage"]
#: Files of the repository, as the README names them: pages, folders and pictures.
FILES = (
    rf"(?:{HOME}/(?:blob|tree)|https://raw.githubusercontent.com/{HOME.removeprefix('https://github.com/')})/main/(.+)"
)


def test_links_of_the_readme_work_on_pypi():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)]+)\)", text) + re.findall(r"^\[[^]]+\]: (\S+)$", text, re.MULTILINE)
    assert len(targets) > 20
    for target in targets:
        if target.startswith("#"):
            continue
        assert target.startswith("https://"), f"{target} leads nowhere on PyPI"
        if (found := re.match(FILES, target)) is not None:
            assert (ROOT / found[1]).exists(), target
    defined = set(re.findall(r"^\[([^]]+)\]: ", text, re.MULTILINE))
    assert set(re.findall(r"\]\[([^]]+)\]", text)) == defined


def test_the_citation_is_of_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {PROJECT['version']}\n" in citation
    assert f"\nlicense: {PROJECT['license']}\n" in citation
    assert f"\nrepository-code: {HOME}\n" in citation


def test_nothing_tells_to_install_extras_from_an_index():
    """Which is true only once the package is there: say which package is missing."""
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]:
        assert "pegasos[" not in path.read_text(encoding="utf-8"), path


def test_every_dependency_has_an_oldest_version():
    assert all(re.fullmatch(r"[a-z-]+==[\d.]+", one) for one in oldest.oldest())


def test_each_python_takes_its_own_wheel(tmp_path):
    told = {"old": "3 10 0", "own": "3 11 0", "later": "3 13 0", "early": "3 13 1", "no_lock": "3 14 1"}
    for name, numbers in told.items():
        (tmp_path / name).write_text(f"#!/bin/sh\necho {numbers}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "broken").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "broken").chmod(0o755)
    found = wheels.interpreters([str(tmp_path / name) for name in [*told, "broken"]])
    assert {str(number): number.wheel for number in found} == {"3.11": "3.11", "3.13": "abi3", "3.14t": "3.14t"}


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ziglang") is None, reason="ziglang, the compiler, is not installed")
@pytest.mark.parametrize("target", cross.TARGETS)
def test_what_depends_on_the_system_compiles_for_others(target, monkeypatch):
    """A few files; `make cross` compiles them all."""
    parts = ["probe.cpp", "text/svmlight_parser.cpp", "kernel/point_kernel.cpp", "base/iterates.cpp"]
    monkeypatch.setattr(cross, "sources", lambda bindings: [ROOT / "cpp" / part for part in parts])
    assert cross.compile_for(target, 1) == []
