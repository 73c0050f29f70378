"""What is done to the built pages: MathJax is put beside them, pictures shrink, and nothing may need a network."""

import re
import shutil
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

#: The parts of MathJax that a page may ask for: the program, its fonts, and what reads formulas aloud.
PARTS = ("tex-chtml.js", "output/chtml/fonts/woff-v2", "a11y", "sre", "input/tex/extensions", "ui")

#: What a browser would load by itself from another place.
ELSEWHERE = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["'](?:https?:)?//[^"']*"""
    r"""|<link\b(?=[^>]*\brel=["'](?:stylesheet|preload|icon|preconnect))[^>]*\bhref=["'](?:https?:)?//[^"']*"""
)


def add_mathjax(app: Any, error: Exception | None) -> None:
    """Copy MathJax, as a package of PyPI has it, into the static files."""
    if error is not None or app.builder.format != "html":
        return
    source = Path(str(distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline/static/mathjax")))
    target = Path(app.outdir) / "_static" / "mathjax"
    for part in PARTS:
        (target / part).parent.mkdir(parents=True, exist_ok=True)
        if (source / part).is_dir():
            shutil.copytree(source / part, target / part, dirs_exist_ok=True)
        else:
            shutil.copy(source / part, target / part)


def shrink_pictures(app: Any, error: Exception | None) -> None:
    """Pictures of the gallery have few colours: a palette makes their files a third as large."""
    if error is not None or app.builder.format != "html":
        return
    from PIL import Image

    for file in (Path(app.outdir) / "_images").glob("sphx_glr_*.png"):
        with Image.open(file) as picture:
            if picture.mode != "P":
                picture.convert("RGB").quantize(256).save(file, optimize=True)


def loaded_from_elsewhere(page: str) -> list[str]:
    """What of a page comes from another place.

    >>> loaded_from_elsewhere('<script src="https://cdn.example/a.js"></script> <a href="https://example.org">b</a>')
    ['<script src="https://cdn.example/a.js']
    >>> loaded_from_elsewhere('<link href="//example.org/a.css" rel="stylesheet"/> <img src="_static/a.svg"/>')
    ['<link href="//example.org/a.css']
    """
    return ELSEWHERE.findall(page)


def check_pages(app: Any, error: Exception | None) -> None:
    """Fail where a page would load something from elsewhere."""
    if error is not None or app.builder.format != "html":
        return
    pages = sorted(Path(app.outdir).rglob("*.html"))
    found = {page: loaded_from_elsewhere(page.read_text(encoding="utf-8")) for page in pages}
    wrong = [f"{page.relative_to(app.outdir)}: {what}" for page, many in found.items() for what in many]
    if wrong:
        raise RuntimeError("pages load from the network: " + "; ".join(wrong[:20]))
