"""Dataclasses made of what JSON holds, whose types are checked as Python does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import UnionType
from typing import Any, TypeVar, get_args, get_type_hints

_Made = TypeVar("_Made")


def typed(kind: type[_Made], values: Mapping[str, Any], **made: Any) -> _Made:
    """Return a dataclass of values, which are text, numbers and truths, and of what is `made`.

    Raise a `ValueError` for a value of another type.
    """
    hints = get_type_hints(kind)
    for field in fields(kind):  # type: ignore[arg-type]
        if field.name not in made and not _is_of(values[field.name], hints[field.name]):
            raise ValueError(f"{field.name} is {values[field.name]!r}")
    return kind(**{**values, **made})


def _is_of(value: Any, hint: Any) -> bool:
    if isinstance(hint, UnionType):
        return any(_is_of(value, each) for each in get_args(hint))
    # To Python, true is a number; to JSON, 1.0 may be written 1.
    return type(value) is hint or (hint is float and type(value) is int)
