"""What solvers declare: the table agrees with what they do, and what they cannot do is refused by one message."""

import ast
import itertools
import re

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from pegasos import SVC, SVR, LinearSVC, LinearSVR, SequenceSVC
from pegasos.base.solver import EARLY_STOPPING, FREE, refuse_unsupported, wish_for_loss
from pegasos.problems.kernel import KernelProblem
from pegasos.problems.linear import LinearProblem
from pegasos.solvers import ALL, KERNEL_SOLVERS, SEQUENCE_SOLVERS, SOLVERS, STREAM_SOLVERS, Pegasos, solvers_of

X, Y = make_classification(40, 4, random_state=0)
TARGETS = make_regression(40, 4, random_state=0)[1]
FLAGS = (False, True)
KINDS = sorted({kind for cls in ALL for kind in cls.supports}, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.name)
def test_the_table_names_what_there_is(cls):
    for able in cls.supports.values():
        assert callable(able.run)
        assert set(able.options) <= set(cls.options)
        for name, values in able.options.items():
            assert getattr(cls(), name) in values  # the default goes with every kind
            for value in values:
                cls.options[name].check(name, value)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_auto_can_do_what_any_solver_can(kind):
    auto = ALL[0].supports[kind]
    assert set(auto.losses) == {loss for cls in solvers_of(kind).values() for loss in cls.supports[kind].losses}


@pytest.mark.parametrize("intercept", ["penalized", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss", "epsilon_insensitive"])
@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_linear_fits_are_as_declared(name, loss, intercept):
    regression = loss == "epsilon_insensitive"
    machine = (LinearSVR if regression else LinearSVC)(
        loss=loss, intercept=intercept, solver=name, alpha=0.1, max_iter=2, random_state=0
    )
    able = SOLVERS[name].supports[LinearProblem]
    if loss in able.losses and intercept in able.intercepts:
        found = machine.fit(X, TARGETS if regression else Y).certificate_
        assert found.dual <= found.primal
    else:
        wrong = f"loss='{loss}'" if loss not in able.losses else "intercept='free'"
        with pytest.raises(ValueError, match=f"^{name} does not support {wrong}; it supports .*; use solver='auto'"):
            machine.fit(X, TARGETS if regression else Y)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("model", [SVC, SVR])
@pytest.mark.parametrize("name", KERNEL_SOLVERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_kernel_fits_are_as_declared(name, model, fit_intercept):
    machine = model(solver=name, fit_intercept=fit_intercept, max_iter=2, random_state=0)
    able = KERNEL_SOLVERS[name].supports[KernelProblem]
    if model.loss in able.losses and ("free" in able.intercepts or not fit_intercept):
        assert np.isfinite(machine.fit(X, Y).certificate_.primal)
    else:
        with pytest.raises(ValueError, match=f"^{name} does not support .* with a kernel; .*use solver='auto'"):
            machine.fit(X, Y)


def test_the_message_names_those_that_can_do_all_of_it():
    wishes = [wish_for_loss("log_loss"), FREE, EARLY_STOPPING]
    refuse_unsupported(SOLVERS["pegasos"](), LinearProblem, SOLVERS, wishes)
    with pytest.raises(ValueError, match="does not support") as refused:
        refuse_unsupported(SOLVERS["sdca"](), LinearProblem, SOLVERS, wishes)
    text = "sdca does not support early_stopping=True; use solver='pegasos', or use early_stopping=False"
    assert str(refused.value) == text
    with pytest.raises(ValueError, match="does not support") as refused:
        refuse_unsupported(SOLVERS["sgd-m"](), LinearProblem, SOLVERS, wishes[:1])
    text = "sgd-m does not support loss='log_loss'; it supports 'hinge'; use solver='auto', 'sdca', 'sgd-s', 'sgd-r', "
    assert str(refused.value) == f"{text}'pegasos' or 'newton'"


CASES = [
    (
        LinearSVC,
        "check_parameters",
        SOLVERS,
        {
            "loss": ("hinge", "squared_hinge", "log_loss"),
            "early_stopping": FLAGS,
            "intercept": ("penalized", "free"),
            "warm_start": FLAGS,
            "multi_class": ("auto", "ovr", "joint", "crammer_singer"),
        },
    ),
    (
        LinearSVC,
        "check_stream_parameters",
        STREAM_SOLVERS,
        {"loss": ("hinge", "log_loss"), "early_stopping": FLAGS, "intercept": ("penalized", "free")},
    ),
    (
        LinearSVR,
        "check_parameters",
        SOLVERS,
        {
            "loss": ("huber", "quantile"),
            "early_stopping": FLAGS,
            "intercept": ("penalized", "free"),
            "warm_start": FLAGS,
        },
    ),
    (SVC, "check_parameters", KERNEL_SOLVERS, {"fit_intercept": FLAGS, "early_stopping": FLAGS}),
    (SVR, "check_parameters", KERNEL_SOLVERS, {"loss": ("epsilon_insensitive", "quantile"), "fit_intercept": FLAGS}),
    (SequenceSVC, "check_parameters", SEQUENCE_SOLVERS, {"warm_start": FLAGS}),
]


def refusal(model, check):
    try:
        getattr(model, check)()
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("model", "check", "solvers", "values"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_advice_that_is_followed_works(model, check, solvers, values):
    refused = 0
    for given in itertools.product(*values.values(), solvers):
        parameters = dict(zip([*values, "solver"], given, strict=True)) | {"alpha": 0.1}
        text = refusal(model(**parameters), check)
        for remedy in text.rpartition("; ")[2].split(", or ") if text else ():
            refused += 1
            # Each parameter that is named, with each of the values that are named for it.
            changes = {
                name: [ast.literal_eval(value) for value in re.findall(r"'[^']*'|True|False", allowed)]
                for name, allowed in re.findall(r"(\w+)=((?:(?:'[^']*'|True|False)(?:, | or )?)+)", remedy)
            }
            assert changes or remedy == "use fit", text
            for values_passed in itertools.product(*changes.values()):
                after = parameters | dict(zip(changes, values_passed, strict=True))
                assert not refusal(model(**after), "check_parameters" if "use fit" in remedy else check), text
    assert refused


def test_all_options_that_do_not_fit_are_named():
    solver = Pegasos(random_stops=3, start="random")
    with pytest.raises(ValueError, match="does not support") as refused:
        Pegasos.supports[KernelProblem].check_options(solver, "a kernel")
    assert str(refused.value) == (
        "pegasos does not support random_stops=3 and start='random' with a kernel; it supports random_stops=0 and "
        "start='zero'"
    )


def test_kinds_have_labels_of_their_own():
    assert len({kind.label for kind in KINDS}) == len(KINDS)
