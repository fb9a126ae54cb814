"""Dataclasses made of what JSON holds, whose types are checked as Python does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

_Made = TypeVar("_Made")


def typed(kind: type[_Made], values: Mapping[str, Any]) -> _Made:
    """Return a dataclass of simple fields; raise a `ValueError` for a value of another type."""
    hints = get_type_hints(kind)
    for field in fields(kind):  # type: ignore[arg-type]
        value = values[field.name]
        if not _is_of(value, hints[field.name]):
            raise ValueError(f"{field.name} is {value!r}")
    return kind(**values)


def _is_of(value: Any, hint: Any) -> bool:
    if isinstance(hint, UnionType):
        return any(_is_of(value, each) for each in get_args(hint))
    wanted = get_origin(hint) or hint
    if wanted is float:
        return type(value) in (int, float)
    # To Python, true is a number.
    return type(value) is wanted if wanted is int else isinstance(value, wanted)
