"""Control groups of Linux, versions 1 and 2: where the limits of the groups are that this process is in."""

import os

MEMBERSHIP = "/proc/self/cgroup"
ROOT = "/sys/fs/cgroup"


def folders(controller: str) -> list[tuple[str, int]]:
    """Folders of the groups that limit this process, each with its version; a limit above holds too."""
    found = []
    try:
        with open(MEMBERSHIP) as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        return []
    for _, kinds, path in lines:
        if kinds and controller not in kinds.split(","):
            continue
        root = f"{ROOT}/{controller}" if kinds else ROOT
        folder = os.path.normpath(root + path)
        if not folder.startswith(root):  # above the root of a namespace
            folder = root
        while folder.startswith(root):
            found.append((folder, 1 if kinds else 2))
            folder = os.path.dirname(folder)
    return found


def read(folder: str, name: str) -> str | None:
    """What a file of a group says, None where there is none."""
    try:
        with open(os.path.join(folder, name)) as file:
            return file.read().strip()
    except OSError:
        return None


def as_number(text: str | None) -> int | None:
    """What a file says, or None where that is no number ("max") or there is no file.

    Numbers are told by their digits, not by the error of `int`: while that writes its message, Ctrl-C would be lost.
    """
    return int(text) if text and text.isascii() and text.isdigit() else None
