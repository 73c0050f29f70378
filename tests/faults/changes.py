"""Random changes of the bytes of a file."""


def changed(data, random, words=()):
    """Bytes after one to three changes, never the same as before; and what was changed, in words.

    `words` are pieces that mean something in the format.
    """
    while True:
        new, told = bytearray(data), []
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            change = random.choice(CHANGES if words else CHANGES[:-1])
            told.append(change(new, random, words))
        if new != data:
            return bytes(new), ", ".join(told)


def _at(new, random):
    """A place, in small headers and in long arrays."""
    most = len(new) if random.random() < 0.7 else min(len(new), 64)
    return random.randrange(max(most, 1))


def _piece(new, random):
    first = _at(new, random)
    return first, min(len(new), first + random.choice((1, 2, 4, 8, 30, 300)))


def flip(new, random, words):
    at = _at(new, random)
    if new:
        new[at] ^= 1 << random.randrange(8)
    return f"bit flipped at {at}"


def replace(new, random, words):
    at = _at(new, random)
    new[at : at + 1] = random.randbytes(1)
    return f"byte replaced at {at}"


def overwrite(new, random, words):
    first, end = _piece(new, random)
    new[first:end] = random.choice((bytes, random.randbytes, lambda n: b"\xff" * n))(end - first)
    return f"bytes {first} to {end} overwritten"


def truncate(new, random, words):
    end = random.randrange(len(new) + 1)
    del new[end:]
    return f"cut short to {end}"


def remove(new, random, words):
    first, end = _piece(new, random)
    del new[first:end]
    return f"bytes {first} to {end} removed"


def double(new, random, words):
    first, end = _piece(new, random)
    new[end:end] = new[first:end]
    return f"bytes {first} to {end} doubled"


def swap(new, random, words):
    first, end = _piece(new, random)
    second = _at(new, random)
    one, other = bytes(new[first:end]), bytes(new[second : second + end - first])
    new[second : second + end - first] = one[: len(other)]
    new[first : first + len(other)] = other
    return f"bytes at {first} and {second} swapped"


def append(new, random, words):
    new += random.choice((b"\0", b"\n", random.randbytes(8)))
    return "bytes appended"


def insert(new, random, words):
    at, word = random.randrange(len(new) + 1), random.choice(words)
    new[at:at] = word
    return f"{word!r} inserted at {at}"


CHANGES = (flip, replace, overwrite, truncate, remove, double, swap, append, insert)
