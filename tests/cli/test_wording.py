"""Warnings once each, and parameters as flags."""

from pegasos import LinearSVC
from pegasos.cli.wording import distinct, kept


def test_what_an_estimator_has_set():
    assert kept(LinearSVC(), ()) == ""
    machine = LinearSVC(C=2.0, scale=True, fit_intercept=False, warm_start=True, random_state=3)
    assert kept(machine, ()) == "--C 2 --no-fit-intercept --random-state 3 --scale"
    assert kept(machine, ("C", "scale")) == "--no-fit-intercept --random-state 3"


def test_advice_that_differs_in_numbers_is_told_once():
    told = ["Raise C: 12.5 is low.", "Column 'x1' is far.", "Raise C: -3e-07 is low.", "Column 'y' is far."]
    assert distinct(told) == ["Column 'x1' is far.", "Raise C: -3e-07 is low.", "Column 'y' is far."]
