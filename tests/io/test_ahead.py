"""Items made ahead on a thread (pegasos/io/ahead.py)."""

import threading

import pytest

from pegasos.io.ahead import read_ahead

TIMEOUT = 30  # seconds; no test waits so long unless it fails


def readers():
    return [thread for thread in threading.enumerate() if thread.name == "pegasos-read-ahead"]


@pytest.mark.parametrize("ahead", [1, 3])
def test_order_and_end(ahead):
    with read_ahead(iter(range(100)), ahead) as items:
        assert list(items) == list(range(100))
    with read_ahead([], ahead) as items:
        assert list(items) == []
    assert readers() == []


@pytest.mark.parametrize("ahead", [1, 2, 5])
def test_no_more_than_so_many_ahead(ahead):
    """So memory is bounded, and with one ahead two buffers are enough."""
    made, more = [], threading.Semaphore(0)

    def make():
        for k in range(20):
            made.append(k)
            more.release()
            yield k

    with read_ahead(make(), ahead) as items:
        for _ in range(ahead):
            assert more.acquire(timeout=TIMEOUT)
        assert not more.acquire(timeout=0.05)
        for k in range(20 - ahead):
            assert next(items) == k
            assert more.acquire(timeout=TIMEOUT)
            assert len(made) == k + 1 + ahead
            assert not more.acquire(timeout=0.002)


def test_errors_come_after_the_items_before_them():
    def make():
        yield 1
        yield 2
        raise OSError("the disk is gone")

    with read_ahead(make(), 3) as items:
        assert [next(items), next(items)] == [1, 2]
        with pytest.raises(OSError, match="the disk is gone"):
            next(items)
    assert readers() == []


def test_an_abandoned_iterator_ends_its_thread():
    made = []

    def make():
        while True:
            made.append(0)
            yield 0

    def use():
        with read_ahead(make(), 2) as items:
            yield from items

    iterator = use()
    next(iterator)
    assert len(readers()) == 1
    iterator.close()
    assert readers() == []
    assert len(made) <= 3


def test_a_thread_that_waits_for_a_pipe_is_not_waited_for_long():
    """It makes nothing more once the pipe gives something."""
    waits, opened, made = threading.Event(), threading.Event(), []

    def make():
        yield 1
        waits.set()
        opened.wait(TIMEOUT)
        made.append(2)
        yield 2
        made.append(3)

    with read_ahead(make(), 1) as items:
        assert next(items) == 1
        assert waits.wait(TIMEOUT)
    (thread,) = readers()
    opened.set()
    thread.join(TIMEOUT)
    assert made == [2]
