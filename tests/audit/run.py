"""Many cases, in several processes."""

from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from multiprocessing import get_context

from .cases import run_case
from .report import Report

#: Cases that a process is given at a time.
CHUNK = 10


def run_chunk(seed, first, kind=None, count=CHUNK):
    report = Report(seed, only=kind)
    for number in range(first, first + count):
        report.add(run_case(seed, number, kind))
    return report


def run(seed, certificates, processes=1, kind=None, tell=lambda report: None):
    """Cases until there are so many certificates."""
    whole, first = Report(seed, only=kind), 0
    if processes == 1:
        while whole.certificates < certificates:
            whole.join(run_chunk(seed, first, kind))
            first += CHUNK
            tell(whole)
        return whole
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        waiting = set()
        while whole.certificates < certificates or waiting:
            while whole.certificates < certificates and len(waiting) < 2 * processes:
                waiting.add(pool.submit(run_chunk, seed, first, kind))
                first += CHUNK
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for chunk in done:
                whole.join(chunk.result())
            tell(whole)
    return whole
