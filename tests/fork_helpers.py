"""Processes that are forked while a call on another thread is at a certain line of Python code."""

import os
import sys
import threading
from queue import SimpleQueue


def lines_of(call):
    """The lines that a call comes by, each once: pairs of code and number, of pegasos and of all libraries."""
    seen = {}

    def trace(frame, event, argument):
        seen.setdefault((frame.f_code, frame.f_lineno))
        return trace

    _start(call, trace).join()
    return list(seen)


def fork_at(line, call, task):
    """Fork when a call on another thread first comes to the line, or at its end where it does not, and do a task there.

    The status of the forked process, 0 where the task returned something true; and a list of what the call returned.
    """
    at_line, forked, returned = SimpleQueue(), threading.Event(), []

    def trace(frame, event, argument):
        if frame.f_code != line[0]:
            return None
        if frame.f_lineno == line[1] and not forked.is_set():
            at_line.put(True)
            forked.wait()
        return trace

    def watched():
        try:
            returned.append(call())
        finally:
            at_line.put(False)

    thread = _start(watched, trace)
    at_line.get()
    child = os.fork()
    if child == 0:
        try:
            threading.settrace(None)
            os._exit(0 if task() else 5)
        finally:
            os._exit(6)
    status = os.waitpid(child, 0)[1]
    forked.set()
    thread.join()
    return status, returned


def _start(call, trace):
    """Call on another thread; it and those that it starts are traced."""

    def run():
        threading.settrace(trace)
        sys.settrace(trace)
        try:
            call()
        finally:
            sys.settrace(None)
            threading.settrace(None)

    thread = threading.Thread(target=run)
    thread.start()
    return thread
