"""Results as JSON, written as each is made, with the machine, the date and the versions it was made with."""

import datetime
import functools
import json
import os
import platform
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

__all__ = ["IMAGES", "RESULTS", "Store", "folders"]

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "reproduce" / "results"
IMAGES = ROOT / "docs" / "images" / "reproduction"


def folders(mode: str) -> tuple[Path, Path]:
    """Where results and images of a mode belong; those of a smoke test are forgotten."""
    if mode == "full":
        return RESULTS, IMAGES
    folder = RESULTS / "quick" if mode == "quick" else _forgotten()
    return folder, folder


@functools.cache
def _forgotten() -> Path:
    return Path(tempfile.mkdtemp())


class Store:
    """The results of one experiment, by key."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.entries: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}

    @property
    def values(self) -> dict[str, Any]:
        return {key: entry["value"] for key, entry in self.entries.items()}

    def add(self, key: str, value: Any, seconds: float) -> None:
        self.entries[key] = {"made": made(seconds), "value": rounded(value)}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        text = ",\n".join(f" {json.dumps(name)}: {json.dumps(entry)}" for name, entry in self.entries.items())
        unfinished = self.file.with_suffix(".part")
        unfinished.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")
        unfinished.replace(self.file)  # so that a run that is ended leaves a whole file


def rounded(value: Any) -> Any:
    """The same with numbers of at most eight digits, as plain Python."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    if isinstance(value, bool | int | str) or value is None:
        return value
    return float(f"{float(value):.8g}")


def made(seconds: float) -> dict[str, Any]:
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": processor(),
        "processors": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "seconds": round(seconds, 1),
        "versions": {"pegasos": version("pegasos"), "python": platform.python_version(), **packages},
    }


@functools.cache
def processor() -> str:
    """Its model, by the name that the system has for it; never the machine's."""
    try:
        fields = dict(
            (part.strip() for part in line.split(":", 1))
            for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0].splitlines()
            if ":" in line
        )
    except OSError:
        return platform.processor() or platform.machine()
    name = fields.get("model name", platform.machine())
    if "cpu family" in fields:
        name += f" (family {fields['cpu family']}, model {fields['model']})"
    return name
