"""Whether what a fit certainly needs is there, before it is asked for: systems that promise more memory than they have
end a process that takes it."""

import os


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
    """Folder of the control group, and what its limit, use and file cache are called; of both versions."""
    found = []
    try:
        with open("/proc/self/cgroup") as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        return []
    for _, kinds, path in lines:
        root, names = "/sys/fs/cgroup", ("memory.max", "memory.current", "inactive_file")
        if kinds:
            if "memory" not in kinds.split(","):
                continue
            root = "/sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        folder = os.path.normpath(root + path)
        while folder.startswith(root):  # a limit above holds too
            found.append((folder, *names))
            folder = os.path.dirname(folder)
    return found


def _number(folder: str, name: str) -> int | None:
    try:
        with open(os.path.join(folder, name)) as file:
            text = file.read().strip()
        return None if text == "max" or int(text) >= 2**62 else int(text)
    except (OSError, ValueError):
        return None


def _entry(folder: str, name: str, key: str) -> int:
    try:
        with open(os.path.join(folder, name)) as file:
            return next((int(line.split()[1]) for line in file if line.split()[0] == key), 0)
    except (OSError, ValueError, IndexError):
        return 0


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
