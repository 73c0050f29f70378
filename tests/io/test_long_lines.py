"""Lines without an end: a small file that decompresses to a large one takes a bounded amount of memory."""

import gzip
import io
import subprocess
import sys
import textwrap

import pytest

import pegasos.io.chunks as chunks
from pegasos.io import read_conll, read_svmlight
from pegasos.io.raw_text import read_raw_text
from pegasos.io.text import read_blocks

READERS = {
    "svmlight": read_svmlight,
    "CoNLL": read_conll,
    "texts": read_raw_text,
}
any_reader = pytest.mark.parametrize("read", READERS.values(), ids=READERS.keys())


@any_reader
def test_a_line_may_not_be_longer(monkeypatch, read):
    monkeypatch.setattr(chunks, "LONGEST_LINE", 10 << 20)
    for text in (b"1" * (20 << 20), b"1 1:1\n" + b"1" * (20 << 20)):
        with pytest.raises(ValueError, match="a line of more than 10,485,760 bytes, which is the most"):
            read(io.BytesIO(gzip.compress(text, 1)))


@any_reader
def test_a_line_of_many_chunks_is_read(read):
    text = b"1 " + b" " * (9 << 20) + b"1:1\n"
    assert read(io.BytesIO(text))


@any_reader
def test_zeros_are_refused_at_once(read):
    class Endless(io.RawIOBase):
        """Zeros without an end."""

        count = 0

        def read(self, size=-1):
            self.count += size
            assert self.count < 100 << 20
            return bytes(size)

    with pytest.raises(ValueError, match="byte 0x00 is not text"):
        read(Endless())


def test_blocks_of_hashed_text(monkeypatch):
    monkeypatch.setattr(chunks, "LONGEST_LINE", 1 << 20)
    with pytest.raises(ValueError, match="a line of more than 1,048,576 bytes"):
        list(read_blocks(io.BytesIO(b"x" * (8 << 20)), 1 << 16))


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
@any_reader
def test_a_file_of_a_megabyte_does_not_take_all_memory(tmp_path, read):
    path = tmp_path / "bomb.gz"
    part = gzip.compress(b"1" * (1 << 28), 9)
    path.write_bytes(part * 4)
    assert path.stat().st_size < 2 << 20
    script = f"""
        import resource, sys
        from {read.__module__} import {read.__name__} as read
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, resource.RLIM_INFINITY))
        try:
            read({str(path)!r})
        except ValueError as error:
            print(error)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120)
    assert "a line of more than" in done.stdout, done.stderr
