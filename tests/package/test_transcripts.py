"""The transcripts of docs are what the commands print, but for times and small differences of figures."""

import math
import re
import sys
from itertools import zip_longest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))

from transcripts import BLOCK, commands, printed  # noqa: E402

#: Files of data that are not in the repository: transcripts with them are not run.
ELSEWHERE = ("motors.train.csv", "train.svm.gz", "train.txt", "test.txt", "words.txt", "bad.txt", "ud.txt")
TIMES = re.compile(r'\d[\d.]* m?s\b|seconds  .*|"seconds": [^,]+')
NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?(e-?\d+)?")


def is_same(shown, found):
    """Whether two lines have the same words, and nearly the same numbers."""
    shown, found = (TIMES.sub("", line) for line in (shown, found))
    numbers = [[float(match[0].replace(",", "")) for match in NUMBER.finditer(line)] for line in (shown, found)]
    words = [NUMBER.sub("", line).split() for line in (shown, found)]
    return words[0] == words[1] and all(
        math.isclose(one, other, rel_tol=0.3, abs_tol=0.05) for one, other in zip(*numbers, strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", ["cli.md", "quickstart.md"])
def test_transcripts(page, tmp_path):
    folder, wrong = tmp_path, []
    for block in BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        if any(re.search(rf"(?<![\w.]){re.escape(name)}\b", block) for name in ELSEWHERE):
            continue
        for command, shown in commands(block):
            listed = re.fullmatch(r"cat (\S+)", command)
            if listed and not (folder / listed[1]).exists():
                (folder / listed[1]).write_text(shown, encoding="utf-8")
            elif command.startswith("cd "):
                folder /= command.removeprefix("cd ")
            else:
                found = printed(command, folder)
                lines = zip_longest(shown.splitlines(), found.splitlines(), fillvalue="")
                if not all(is_same(*pair) for pair in lines):
                    wrong.append(f"$ {command}\n{found}")
    assert not wrong, "\n".join([f"docs/{page} shows something else than:", *wrong])


def test_the_page_names_what_its_tables_need_before_they_are_needed():
    before, _, after = (DOCS / "quickstart.md").read_text(encoding="utf-8").partition("$ python -c")
    assert ".csv" in after
    assert "pip install pyarrow pandas" in before
