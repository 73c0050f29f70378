"""Items made on a thread, some of them before they are asked for."""

import queue
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

Item = TypeVar("Item")


@contextmanager
def read_ahead(items: Iterable[Item], ahead: int) -> Iterator[Iterator[Item]]:
    """The items, made on a thread of their own: at most `ahead` of them beyond the last one that was taken.

    So with `ahead` = 1 two buffers are enough: one that is being worked on, and one that is being filled. An error on
    the thread is raised in place of the next item. At the end of the block the thread makes no further item.
    """
    ready: queue.SimpleQueue[tuple[Item | None, BaseException | None]] = queue.SimpleQueue()
    allowed, stopped = threading.Semaphore(ahead), threading.Event()

    def make() -> None:
        try:
            allowed.acquire()
            for item in items:
                ready.put((item, None))
                allowed.acquire()
                if stopped.is_set():
                    return
            ready.put((None, None))
        except BaseException as error:  # goes to whoever waits for the next item
            ready.put((None, error))

    def next_one() -> tuple[Item | None, BaseException | None]:
        while True:  # a short time at once, to hear of Ctrl-C whatever handler of signals there is
            with suppress(queue.Empty):
                return ready.get(timeout=0.05)

    def take() -> Iterator[Item]:
        while True:
            item, error = next_one()
            if error is not None:
                raise error
            if item is None:
                return
            allowed.release()
            yield item

    # A daemon, because a read from a pipe may never return.
    thread = threading.Thread(target=make, name="pegasos-read-ahead", daemon=True)
    thread.start()
    try:
        yield take()
    finally:
        stopped.set()
        allowed.release()
        # Once a file is closed, the next one to be opened may have its number, and be read in its place.
        thread.join(timeout=1.0)
