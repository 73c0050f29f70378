"""scikit-learn's own checks of an estimator, for each solver."""

import pytest
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from pegasos import FeatureMapSVC, LinearSVC, LinearSVCCV, LinearSVR, SequenceSVC, TextHasher
from pegasos.sequence import Template
from pegasos.solvers import (
    MPU,
    OCAS,
    SDCA,
    SGDM,
    SGDQN,
    SGDR,
    SGDS,
    ConstantStep,
    InteriorPoint,
    Newton,
    Norma,
    NormBall,
    Pegasos,
    Perceptron,
    SvmSgd,
)

EQUIVALENCE = ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"]
STOCHASTIC = "asks for weights equal to 1e-7, more than a stochastic solver reaches"
#: Solvers that come as close to the optimum as checks may ask, with tol=0.
EXACT = (SDCA, InteriorPoint, OCAS)
SOLVERS = [
    SGDS(),
    SGDM(),
    SGDR(),
    Pegasos(batch_size=2, project=True),
    ConstantStep(),
    NormBall(),
    Perceptron(average="last"),  # the best by the objective need not follow the weights of classes
    SvmSgd(),
    SGDQN(),
    MPU(),
]

#: The data of the checks are as they are: far from zero, or with targets that are.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*with a penalised intercept:UserWarning"),  # their data are around 100
    pytest.mark.filterwarnings("ignore:scale=True divides"),
    pytest.mark.filterwarnings("ignore:The targets are around"),
]


def expected(estimator):
    """Checks that fail by their nature, and why."""
    if estimator.solver == "auto" or isinstance(
        estimator.solver, (*EXACT, Newton)
    ):  # "auto" solves such small problems exactly
        return {}
    return dict.fromkeys(EQUIVALENCE, STOCHASTIC)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the checks set max_iter=5
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        LinearSVC(),
        LinearSVC(n_jobs=2),
        LinearSVC(intercept="free"),
        LinearSVC(scale=True),
        # A check weighs classes by 1000 and 0.0001 on columns that are far from 1. So few examples held out tell little
        # of a fit to them, and Norma's steps are too long for them.
        LinearSVC(solver=Pegasos(), early_stopping=True, validation_fraction=0.3, scale=True),
        LinearSVC(solver=Norma(), scale=True),
        LinearSVCCV(Cs=3, cv=3),
        LinearSVCCV(Cs=3, cv=3, n_jobs=2),
        *(LinearSVC(solver=solver) for solver in SOLVERS),
        *(LinearSVC(solver=solver(), tol=0) for solver in EXACT),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        LinearSVR(),
        LinearSVR(loss="squared_epsilon_insensitive"),
        LinearSVR(loss="huber", epsilon=1.0),
        LinearSVR(loss="quantile", quantile=0.8),
        LinearSVR(solver=SDCA(), tol=0),
        LinearSVR(loss="huber", epsilon=1.0, solver=Newton(), tol=0),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_check_of_regression(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        LinearSVC(loss="log_loss", solver=SDCA(), tol=0),
        LinearSVC(loss="squared_hinge", solver=SDCA(), tol=0),
        LinearSVC(loss="log_loss", solver=Newton(), tol=0),
        LinearSVC(loss="squared_hinge", solver=Newton(equations="cg"), tol=0),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_check_of_other_losses(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([LinearSVC(multi_class="joint", solver=SDCA(), tol=0)], expected_failed_checks=expected)
def test_scikit_learn_check_of_joint_classes(estimator, check):
    check(estimator)


def joint_features(x, label):
    return x if label else -x


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    "estimator",
    [SequenceSVC(), FeatureMapSVC(joint_features), TextHasher(8), Template("U0:%x[0,0]")],
    ids=lambda estimator: type(estimator).__name__,  # the address of a function differs from process to process
)
def test_scikit_learn_check_of_other_input(estimator):
    """What takes no matrix has few checks; tests of sequences have the others."""
    check_estimator(estimator)
