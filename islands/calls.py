"""Check the arguments of public functions; one error message explains a wrong call."""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import wraps
from numbers import Real
from typing import Any, ParamSpec, TypeGuard, TypeVar

import numpy as np

from islands.errors import UsageError
from islands.text import either, shown, unknown

_P = ParamSpec("_P")
_R = TypeVar("_R")
_FUNCTIONS = ("batch", "function", "callback")
"""The arguments that take a Python function."""
_MOST_NAMED = 3
"""Maximum number of names that a message suggests."""


def explained(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function that raises a `UsageError` for calls that do not fit its signature.

    An argument may be missing, unknown, given twice, or given by position instead of by name.
    """
    signature = inspect.signature(function)
    called = function.__qualname__.removesuffix(".__init__")
    if function.__module__ == "islands.space":
        called = f"space.{called}"  # `islands.real` is another function

    @wraps(function)
    def checked(*args: _P.args, **named: _P.kwargs) -> _R:
        try:
            signature.bind(*args, **named)
        except TypeError as error:
            raise UsageError(f"{called}: {_fault(signature, args, named) or error}") from None
        return function(*args, **named)

    return checked


INTERNAL = {"is_internal": True}
"""The metadata of fields that `taking` leaves out of the signature."""


def taking(group: Any) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Replace `**others` in the signature of a function by the fields of a dataclass."""

    def named(function: Callable[_P, _R]) -> Callable[_P, _R]:
        signature, by_name = inspect.signature(function), inspect.Parameter.KEYWORD_ONLY
        explicit = [p for p in signature.parameters.values() if p.kind != p.VAR_KEYWORD]
        others = (
            inspect.Parameter(field.name, by_name, default=field.default, annotation=field.type)
            for field in fields(group)
            if field.metadata != INTERNAL
        )
        vars(function)["__signature__"] = signature.replace(parameters=[*explicit, *others])
        return function

    return named


def is_whole(value: Any) -> TypeGuard[int | np.integer[Any]]:
    """Return whether an argument is an integer, and neither a Boolean nor a duration."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def is_duration(value: Any) -> TypeGuard[float]:
    """Return whether an argument is a positive number of seconds, and not a Boolean."""
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < math.inf


def seconds_of(time_limit: Any) -> float:
    """Return a limit in seconds; raise a `ValueError`, as other libraries do, if it is invalid."""
    if not is_duration(time_limit):
        raise ValueError(f"time_limit={time_limit!r}: must be a positive number of seconds")
    return float(time_limit)


def _fault(signature: inspect.Signature, args: tuple[Any, ...], named: Mapping[str, Any]) -> str:
    """Return what is wrong with the arguments of a call, and the fix."""
    parameters = [p for p in signature.parameters.values() if p.name != "self"]
    if len(parameters) < len(signature.parameters):
        args = args[1:]
    names = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]
    takes_others = len(names) < len(parameters)
    first = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    if len(args) > len(first):
        others, value = [name for name in names if name not in first], args[len(first)]
        if callable(value):
            others = [name for name in others if name in _FUNCTIONS] or others
        rule = f"only {', '.join(first)} may be" if first else "none may be"
        fix = either([f"{name}=..." for name in others[:_MOST_NAMED]])
        return (
            f"{shown(value, _words)} is given by position, but {rule}. Write its name"
            f"{f', such as {fix}' if others else ''}"
        )
    for name in named:
        if name in first[: len(args)]:
            return f"{name} is given twice, by position and by name. Leave one of them out"
        if name not in names and not takes_others:
            return unknown("argument", name, names)
    missing = [
        p.name
        for p in parameters[len(args) :]
        if p.default is p.empty and p.name in names and p.name not in named
    ]
    return f"{' and '.join(missing)} {'are' if missing[1:] else 'is'} missing" if missing else ""


def _words(value: object) -> str:
    return f"the function {name}" if (name := getattr(value, "__name__", "")) else repr(value)
