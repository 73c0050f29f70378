"""Transcripts: ``python docs/transcripts.py`` runs the commands of docs/quickstart.md and writes what they print.

The commands of all blocks marked ``console`` run one after the other, in an empty folder. Where the line below a block
says how long it took, the start of Python included, that is brought up to date.
"""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).parent / "quickstart.md"

#: A block, and the line below some that says how long it took.
BLOCK = re.compile(r"^```console\n(.*?)^```\n(?:\n\*[\d.]+ seconds in all[^*]*\*\n)?", re.MULTILINE | re.DOTALL)


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a transcript, and what it printed. `pegasos demo` prints commands, up to the next `cd`.

    >>> list(commands("$ echo a\\na\\n$ true\\n"))
    [('echo a', 'a\\n'), ('true', '')]
    >>> list(commands("$ pegasos demo\\nMaking\\n$ pegasos train\\n$ cd text\\n"))
    [('pegasos demo', 'Making\\n$ pegasos train\\n'), ('cd text', '')]
    """
    starts = r"^\$ (?=cd |pegasos demo)" if "$ pegasos demo" in block else r"^\$ "
    for part in re.split(starts, block, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def printed(command: str, folder: Path) -> str:
    """What a command prints, to both outputs; `pegasos` and `python` are those that run this."""
    script = f'pegasos() {{ "{sys.executable}" -m pegasos "$@"; }}\npython() {{ "{sys.executable}" "$@"; }}\n{command}'
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def written(text: str, folder: Path) -> str:
    """The page, with what its commands print now."""

    def run(found: re.Match[str]) -> str:
        start = time.perf_counter()
        outputs = [f"$ {command}\n{printed(command, folder)}" for command, _ in commands(found[1])]
        block, seconds = f"```console\n{''.join(outputs)}```\n", time.perf_counter() - start
        timed = found[0].endswith("*\n")
        return f"{block}\n*{seconds:.1f} seconds in all, starts of Python included*\n" if timed else block

    return BLOCK.sub(run, text)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), Path(name)), encoding="utf-8")
