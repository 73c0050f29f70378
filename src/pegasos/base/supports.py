"""What a solver supports, said once: registries, refusals, the command line's help and the docs' tables follow."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pegasos.base.solver import Solver


@dataclass(frozen=True)
class Supports:
    """What a solver does with problems of one kind. All support weights of examples."""

    run: Callable[..., Any]  # the solver's method: a problem in, a solution or a learner out
    losses: tuple[str, ...] = ("hinge",)
    intercepts: tuple[str, ...] = ("penalized",)
    continued: bool = True  # from the point of another run
    early_stopping: bool = False
    exact: bool = True  # gets so close to the optimum that single precision of a kernel matrix would be felt
    options: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # the solver's values, where not all go

    def check_options(self, solver: "Solver", label: str, otherwise: str = "") -> None:
        """Raise a ValueError where an option of the solver has a value that is not for this kind."""
        for name, values in self.options.items():
            value = getattr(solver, name)
            if value not in values:
                raise ValueError(
                    f"{type(solver).__name__} does not support {name}={value!r}{_with(label)}; it supports "
                    f"{listed(map(repr, values))}{otherwise and f'; use that, or {otherwise}'}"
                )


class Wish(NamedTuple):
    """What an estimator was asked for, and whether a solver can do it."""

    text: str
    is_met: Callable[[Supports], bool]
    otherwise: str = ""  # what else to do
    values: Callable[[Supports], Iterable[str]] = lambda _: ()  # those that a solver supports instead


#: Wishes that estimators of several kinds have.
FREE = Wish("intercept='free'", lambda able: "free" in able.intercepts, "", lambda able: able.intercepts)
EARLY_STOPPING = Wish("early_stopping=True", lambda able: able.early_stopping, "use early_stopping=False")
WARM_START = Wish("warm_start=True", lambda able: able.continued, "use warm_start=False")


def wish_for_loss(loss: str, otherwise: str = "") -> Wish:
    """The wish for a loss."""
    return Wish(f"loss={loss!r}", lambda able: loss in able.losses, otherwise, lambda able: able.losses)


def refuse_unsupported(
    solver: "Solver", kind: type[Any], known: Mapping[str, type["Solver"]], wishes: Iterable[Wish]
) -> None:
    """Raise a ValueError where the solver does not support something; it names the solvers that do."""
    able = {name: cls.supports[kind] for name, cls in known.items() if kind in cls.supports}
    for wish in wishes:
        able = {name: supports for name, supports in able.items() if wish.is_met(supports)}
        own = solver.supports.get(kind)
        if own is not None and wish.is_met(own):
            continue
        values = () if own is None else tuple(wish.values(own))
        label = kind.label if own is not None and kind.label not in wish.text else ""
        parts = [f"{solver.name} does not support {wish.text}{_with(label)}"]
        parts += [f"it supports {listed(map(repr, values))}"] if values else []
        remedies = [f"use solver={listed(map(repr, able), 'or')}"] if able else []
        remedies += [wish.otherwise] if wish.otherwise else []
        raise ValueError("; ".join([*parts, *([", or ".join(remedies)] if remedies else [])]))


def listed(words: Iterable[str], last_by: str = "and") -> str:
    """The words with commas between them, and before the last one "and"."""
    *most, last = words
    return f"{', '.join(most)} {last_by} {last}" if most else last


def _with(label: str) -> str:
    return f" with {label}" if label else ""
