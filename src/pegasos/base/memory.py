"""Whether what a fit certainly needs is there, before it is asked for: systems that promise more memory than they have
end a process that takes it."""

import os

from pegasos import _cgroups

#: What limit, use and file cache are called in each version of control groups.
_NAMES = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: ("memory.max", "memory.current", "inactive_file"),
}


def free_memory() -> int:
    """Bytes that this process can still take: of the machine, of its control group, of its address space."""
    free = [_available()]
    for folder, limit, used, reclaimable in _groups():
        most, now = _number(folder, limit), _number(folder, used)
        if most is not None and now is not None:
            free.append(most - now + _entry(folder, "memory.stat", reclaimable))
    space = _address_space()
    return max(min(free if space is None else [*free, space]), 0)


def refuse_beyond(needed: float, what: str, remedy: str) -> None:
    """Raise a MemoryError where so many bytes are not there."""
    if needed < 1e8:  # not worth a look
        return
    free = free_memory()
    if needed > free:
        raise MemoryError(f"{what} needs {needed / 1e9:.3g} GB, and {free / 1e9:.3g} are free; {remedy}")


def _available() -> int:
    """Bytes of memory that are free, or can be made so."""
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _groups() -> list[tuple[str, str, str, str]]:
    """Folders of control groups, and what limit, use and file cache are called in them."""
    return [(folder, *_NAMES[version]) for folder, version in _cgroups.folders("memory")]


def _number(folder: str, name: str) -> int | None:
    number = _cgroups.as_number(_cgroups.read(folder, name))
    return None if number is None or number >= 2**62 else number


def _entry(folder: str, name: str, key: str) -> int:
    lines = (line.split() for line in (_cgroups.read(folder, name) or "").splitlines())
    return next((int(words[1]) for words in lines if words[0] == key), 0)


def _address_space() -> int | None:
    """What `ulimit -v` leaves."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most == resource.RLIM_INFINITY:
            return None
        with open("/proc/self/statm") as file:
            return most - int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return None
