"""Pictures of docs/plots.md: ``python docs/pictures.py`` runs the examples of the page and saves what they draw."""

import doctest
import re
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
PAGE = FOLDER / "plots.md"

#: Each piece of the page that matters: an example, or the picture that belongs to what was drawn last.
PIECES = re.compile(r"^```python\n(.*?)^```|^!\[[^]]*\]\((pictures/[\w.]+)\)", re.MULTILINE | re.DOTALL)

#: The same file for the same drawing, with text as text.
STYLE = {"svg.hashsalt": "pegasos", "svg.fonttype": "none", "font.size": 9, "figure.dpi": 90}


def pictures() -> list[str]:
    """The names of the pictures on the page."""
    return [picture for _, picture in PIECES.findall(PAGE.read_text(encoding="utf-8")) if picture]


def main() -> None:
    """Run the examples, and save each picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    (FOLDER / "pictures").mkdir(exist_ok=True)
    names: dict[str, Any] = {}
    with matplotlib.rc_context(STYLE):
        for code, picture in PIECES.findall(PAGE.read_text(encoding="utf-8")):
            for example in doctest.DocTestParser().get_examples(code):
                exec(compile(example.source, str(PAGE), "single"), names)
            if picture:
                figure = plt.gcf()
                figure.savefig(FOLDER / picture, metadata={"Date": None}, bbox_inches="tight", facecolor="white")
                plt.close("all")
                print(f"{picture}: {(FOLDER / picture).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
