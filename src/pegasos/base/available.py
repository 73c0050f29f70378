"""Methods that are there for some parameters only."""

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])


def available(check: Callable[[Any], object]) -> Callable[[Method], Method]:
    """Decorate a method that is not there where `check` raises an AttributeError: hasattr is False then.

    It is scikit-learn's `available_if`, but for the error: that one hides what `check` says behind a message of its
    own, and here this is advice. Of the class it is a function, which is what metadata routing looks for.

    Examples
    --------
    >>> class Door:
    ...     closed = True
    ...     def check(self):
    ...         if self.closed:
    ...             raise AttributeError("open it first")
    ...     @available(check)
    ...     def enter(self):
    ...         return "inside"
    >>> door = Door()
    >>> hasattr(door, "enter")
    False
    >>> door.closed = False
    >>> door.enter()
    'inside'
    """

    def decorate(method: Method) -> Method:
        return cast(Method, _Available(method, check))

    return decorate


class _Available:
    def __init__(self, method: Callable[..., Any], check: Callable[[Any], object]) -> None:
        self.method, self.check = method, check
        functools.update_wrapper(cast(Any, self), method)

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        if obj is not None:
            self.check(obj)
            return MethodType(self.method, obj)

        @functools.wraps(self.method)
        def unbound(obj: Any, *args: Any, **kwargs: Any) -> Any:
            self.check(obj)
            return self.method(obj, *args, **kwargs)

        return unbound
