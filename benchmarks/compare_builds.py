"""Builds of commits for `compare.py`: each exported and built once, in a folder of its own.

A folder has the files in ``source`` and, per instruction set and Python, a folder that goes on the path of the worker.
Only a finished build has that name. The files as they are, ``worktree``, share one folder, in which a later build
compiles what changed.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pegasos._core import cpu

__all__ = ["INSTALLED", "ROOT", "WORKTREE", "Build", "find_build", "level"]

ROOT = Path(__file__).resolve().parents[1]
INSTALLED, WORKTREE = "installed", "worktree"
NO_PART = (":!benchmarks", ":!docs", ":!tests")  # of the package


@dataclass(frozen=True)
class Build:
    """A package to import: of a revision, described, and where it is; None is the one that is installed."""

    revision: str
    description: str
    path: Path | None


def level() -> str:
    """The instruction set to build for: the best this processor has, or what ``PEGASOS_ISA`` says."""
    return os.environ.get("PEGASOS_ISA") or cpu.levels()[0]


def find_build(revision: str, cache: Path) -> Build:
    """The package of the revision, built now unless it was before."""
    if revision == INSTALLED:
        return Build(revision, "the installed package", None)
    if revision == WORKTREE:
        key = sync_worktree(cache / WORKTREE / "source")
        path = build(cache / WORKTREE, key, lambda: None)
        return Build(revision, f"the files as they are, on {describe('HEAD')}", path)
    commit = git("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}").strip()
    folder = cache / commit
    path = build(folder, commit, lambda: export(commit, folder / "source"))
    shutil.rmtree(folder / "source" / "build", ignore_errors=True)  # a commit does not change
    return Build(revision, describe(commit), path)


def build(folder: Path, key: str, export: Callable[[], None]) -> Path:
    """The folder with the package, of files that the key stands for."""
    path = folder / f"{level()}-{sys.implementation.cache_tag}"
    stamp = path / "key.txt"
    if stamp.exists() and stamp.read_text() == key:
        return path
    export()
    print(f"building {folder.name} for {level()} ...", flush=True)
    part = path.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--no-build-isolation", "-C", f"cmake.define.PEGASOS_LEVELS={level()}"]
    run([*command, "--target", str(part), str(folder / "source")])
    shutil.rmtree(path, ignore_errors=True)
    (part / "key.txt").write_text(key)
    part.rename(path)
    return path


def export(commit: str, source: Path) -> None:
    """The files of the commit."""
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    with tempfile.NamedTemporaryFile(suffix=".tar") as file:
        git("archive", "--format=tar", f"--output={file.name}", commit)
        with tarfile.open(file.name) as archive:
            archive.extractall(source, filter="data")


def sync_worktree(source: Path) -> str:
    """Copy what changed, so that only this is compiled again; a number that stands for the files' contents."""
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".", *NO_PART)
    names = sorted(name for name in set(listed.split("\0")) if name and (ROOT / name).is_file())
    digest = hashlib.sha256()
    for name in names:
        content = (ROOT / name).read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
        copy = source / name
        if not copy.is_file() or copy.read_bytes() != content:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)
    kept = {source / name for name in names}
    for path in [path for path in source.rglob("*") if path.is_file()]:
        if path not in kept and path.relative_to(source).parts[0] != "build":
            path.unlink()
    return digest.hexdigest()


def describe(commit: str) -> str:
    return git("log", "-1", "--format=%h %s", commit).strip()


def git(*arguments: str) -> str:
    return run(["git", "-C", str(ROOT), *arguments])


def run(command: list[str]) -> str:
    """What the command prints; where it fails, its last words are the error."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout
