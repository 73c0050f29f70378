"""Messages in the words of the command."""

import pytest

from pegasos import LinearSVC
from pegasos.cli.wording import distinct, in_flags, kept


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("C=0.0: must be above 0", "--C 0.0: must be above 0"),
        ("Raise max_iter or tol.", "Raise --max-iter or --tol."),
        ("did not reach tol=0.001: the budget", "did not reach --tol 0.001: the budget"),
        ("use scale=True, or leave it out", "use --scale, or leave it out"),
        ("use scale=False.", "use --no-scale."),
        ("raise memory_limit to 1 MB, not memory_limit=2MB", "raise --memory-limit to 1 MB, not --memory-limit 2MB"),
        ("pass fit_intercept=True", "pass --fit-intercept"),
        ("leave out warm_start=False.", "leave out --no-warm-start."),
        (
            "solver='x': must be 'sdca' or 'smo', or an object from pegasos.solvers",
            "--solver x: must be sdca or smo",
        ),
        ("pass dtype=np.float64; or zero_based=True", "pass --dtype float64; or --zero-based"),
        ("index 20 is beyond n_features=10", "index 20 is beyond --features 10"),
        (
            "average=False of Pegasos(average=False, batch_size=2)",
            "--average no of Pegasos(average=False, batch_size=2)",
        ),
        ("tol=1e-3 has the label 'x' or None", "--tol 1e-3 has the label 'x'"),
        # and what is none of ours
        ("my/max_iter.svm: no rows", "my/max_iter.svm: no rows"),
        ("max_iter.svm: no 'auto' rows", "max_iter.svm: no 'auto' rows"),
        ("y has one class only, 'auto'", "y has one class only, 'auto'"),
        ("--tol 1 and --max-iter", "--tol 1 and --max-iter"),
        ("class_weight={1: 2}: weights", "class_weight={1: 2}: weights"),
        ("line 1: 'max_iter' is no number", "line 1: 'max_iter' is no number"),
    ],
)
def test_parameters_are_flags(given, made):
    assert in_flags(given) == made


def test_what_an_estimator_has_set():
    assert kept(LinearSVC(), ()) == ""
    machine = LinearSVC(C=2.0, scale=True, fit_intercept=False, warm_start=True, random_state=3)
    assert kept(machine, ()) == "--C 2 --no-fit-intercept --random-state 3 --scale"
    assert kept(machine, ("C", "scale")) == "--no-fit-intercept --random-state 3"


def test_advice_that_differs_in_numbers_is_told_once():
    told = ["Raise C: 12.5 is low.", "Column 'x1' is far.", "Raise C: -3e-07 is low.", "Column 'y' is far."]
    assert distinct(told) == ["Column 'x1' is far.", "Raise C: -3e-07 is low.", "Column 'y' is far."]
