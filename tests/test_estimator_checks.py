"""scikit-learn's own checks of an estimator, for each solver."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pegasos import LinearSVC
from pegasos.solvers import ConstantStep, Norma, Pegasos

EXACT = "asks for 1e-7 of the optimum, more than a stochastic solver reaches; waits for the exact one"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": EXACT,
    "check_sample_weight_equivalence_on_sparse_data": EXACT,
}
EXPECTED_OF_NORMA = EXPECTED | {
    "check_class_weight_classifiers": "class weights of 1000 and 0.0001 on features that are not scaled: Norma's steps "
    "1/(alpha sqrt(t)) are still far too long after the whole budget",
}


def expected(estimator):
    return EXPECTED_OF_NORMA if isinstance(estimator.solver, Norma) else EXPECTED


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the checks set max_iter=5
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        LinearSVC(),
        *(LinearSVC(solver=solver) for solver in (Pegasos(batch_size=2, project=True), Norma(), ConstantStep())),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
