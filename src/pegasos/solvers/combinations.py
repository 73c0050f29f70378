"""Which parameters go together: one table for all estimators, and an error that names the choices."""

from collections.abc import Iterable
from typing import Any

from pegasos.solvers import KERNEL_SOLVERS, SOLVERS, Solver

__all__ = [
    "EARLY_STOPPING_SOLVERS",
    "JOINT_LOSSES",
    "JOINT_SOLVERS",
    "refuse_combinations",
    "refuse_kernel_combinations",
]

#: Losses that have a form for all classes together, and the solvers that serve it.
JOINT_LOSSES = ("hinge", "log_loss")
JOINT_SOLVERS = ("auto", "sdca", "pegasos", "sgd-s")

#: Solvers whose weights after any epoch are worth a look: those of the primal.
EARLY_STOPPING_SOLVERS = ("pegasos", "sgd-r", "sgd-s", "sgd-m")


def refuse_combinations(machine: Any, solver: Solver) -> None:
    """Raise a ValueError where parameters of the estimator, each allowed by itself, do not go together."""
    loss, free = machine.loss, machine.fit_intercept and machine.intercept == "free"
    joint = getattr(machine, "multi_class", "ovr") == "joint"
    costly = getattr(machine, "cost", None) is not None
    early = getattr(machine, "early_stopping", False)
    able = [name for name, cls in SOLVERS.items() if loss in cls.losses]
    table = [
        (
            not joint and loss not in solver.losses,
            f"loss={loss!r} is none that {solver.name} serves: {', '.join(solver.losses)}"
            + (f"; use {_choices('solver', able)}" if able else ""),
        ),
        (
            free and not joint and "free" not in solver.intercepts,
            f"intercept='free' is none that {solver.name} serves; use "
            f"{_choices('solver', [name for name in able if 'free' in SOLVERS[name].intercepts])}",
        ),
        (
            free and machine.intercept_scaling != 1,
            f"intercept_scaling={machine.intercept_scaling}: a free intercept is not penalised, so there is nothing "
            "to scale; leave it at 1, or use intercept='penalized'",
        ),
        (
            joint and loss not in JOINT_LOSSES,
            f"multi_class='joint' has no form of loss={loss!r}; use {_choices('loss', JOINT_LOSSES)}, or "
            "multi_class='ovr'",
        ),
        (
            joint and free,
            "multi_class='joint' has no free intercept; use intercept='penalized', fit_intercept=False, or "
            "multi_class='ovr'",
        ),
        (
            joint and solver.name not in JOINT_SOLVERS,
            f"multi_class='joint' is none that {solver.name} serves; use {_choices('solver', JOINT_SOLVERS)}, or "
            "multi_class='ovr'",
        ),
        (
            costly and not (joint and loss == "hinge"),
            f"cost is for multi_class='joint' with loss='hinge', and these are {getattr(machine, 'multi_class', '')!r} "
            f"and {loss!r}; leave it out, or use class_weight",
        ),
        (
            early and solver.name not in EARLY_STOPPING_SOLVERS,
            f"early_stopping=True is none that {solver.name} serves; use "
            f"{_choices('solver', EARLY_STOPPING_SOLVERS)}, or early_stopping=False",
        ),
        (
            early and getattr(solver, "max_steps", None) is not None,
            "early_stopping=True goes epoch by epoch, and max_steps is no number of epochs; leave one of them out",
        ),
    ]
    _refuse(table)


def refuse_kernel_combinations(machine: Any, solver: Solver) -> None:
    """The same for the machines with a kernel."""
    loss = machine.loss
    able = [name for name, cls in KERNEL_SOLVERS.items() if loss in cls.kernel_losses]
    stopping = [name for name in able if KERNEL_SOLVERS[name].kernel_early_stopping]
    pairs = getattr(machine, "decision_function_shape", "ovr") == "ovo"
    table = [
        (
            loss not in solver.kernel_losses,
            f"the loss of {type(machine).__name__}, {loss!r}, is none that {solver.name} serves with a kernel; use "
            f"{_choices('solver', able)}",
        ),
        (
            machine.fit_intercept and not solver.kernel_intercept,
            f"fit_intercept=True is none that {solver.name} serves with a kernel, where the intercept is free; use "
            f"{_choices('solver', [name for name in able if KERNEL_SOLVERS[name].kernel_intercept])}, or "
            "fit_intercept=False",
        ),
        (
            getattr(machine, "early_stopping", False) and not solver.kernel_early_stopping,
            f"early_stopping=True is none that {solver.name} serves with a kernel; use "
            + (f"{_choices('solver', stopping)}, or " if stopping else "")
            + "early_stopping=False",
        ),
        (
            machine.scale is not None and isinstance(machine.kernel, str) and machine.kernel == "precomputed",
            "scale='auto' divides the columns of X by their sizes, and with kernel='precomputed' X is the kernel "
            "matrix; leave it out, and scale the examples before their kernel is computed",
        ),
        (
            pairs and machine.multi_class == "ovr",
            "decision_function_shape='ovo' is the decisions of pairs of classes, which multi_class='ovr' does not "
            "train; use multi_class='ovo', or decision_function_shape='ovr'",
        ),
        (
            pairs and machine.break_ties,
            "break_ties=True goes by a decision for each class; use decision_function_shape='ovr', or break_ties=False",
        ),
    ]
    _refuse(table)


def _refuse(table: Iterable[tuple[bool, str]]) -> None:
    for wrong, message in table:
        if wrong:
            raise ValueError(message)


def _choices(name: str, values: Iterable[str]) -> str:
    *most, last = [repr(value) for value in values]
    return f"{name}={', '.join(most)} or {last}" if most else f"{name}={last}"
