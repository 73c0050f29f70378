"""When a full check is worth its pass (cpp/base/checks.hpp)."""

import math

import pytest

from pegasos._core import native


def epochs_of_checks(checks, gaps, true_gaps, dual=1.0):
    """Those after which a check was due; of each epoch the gap that margins tell, and the one that a check finds."""
    due = []
    for epoch, (gap, found) in enumerate(zip(gaps, true_gaps, strict=True), 1):
        checks.met(gap)
        if checks.due(dual):
            due.append(epoch)
            checks.found(found)
            if found <= 1e-3:
                break
    return due


def test_margins_that_tell_the_gap():
    gaps = [0.5**epoch for epoch in range(1, 16)]
    due = epochs_of_checks(native.Checks(1e-3, usual=1.0), gaps, gaps)
    assert due == [10]


@pytest.mark.parametrize("told", [1e-9, 0.0, -1e-9])
def test_margins_that_tell_nothing(told):
    """Checks are not made in vain after each epoch, and the end is not missed."""
    true_gaps = [0.04 * 0.86**epoch for epoch in range(1, 41)]
    end = next(epoch for epoch, gap in enumerate(true_gaps, 1) if gap <= 1e-3)
    due = epochs_of_checks(native.Checks(1e-3, usual=0.9), [told] * 40, true_gaps)
    assert due[-1] == end
    assert len(due) <= 2 * math.log2(end) + 2
