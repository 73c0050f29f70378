"""What solvers declare: the table agrees with what they do, and what they cannot do is refused by one message."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from pegasos import SVC, SVR, LinearSVC, LinearSVR
from pegasos.base.solver import EARLY_STOPPING, FREE, refuse_unsupported, wish_for_loss
from pegasos.problems.kernel import KernelProblem
from pegasos.problems.linear import LinearProblem
from pegasos.solvers import ALL, KERNEL_SOLVERS, SOLVERS, solvers_of

X, Y = make_classification(40, 4, random_state=0)
TARGETS = make_regression(40, 4, random_state=0)[1]
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
    text = "sgd-m does not support loss='log_loss'; it supports 'hinge'; use solver='auto', 'sdca', 'sgd-s', 'sgd-r' or"
    assert str(refused.value) == f"{text} 'pegasos'"


def test_kinds_have_labels_of_their_own():
    assert len({kind.label for kind in KINDS}) == len(KINDS)
