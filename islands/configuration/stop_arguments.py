"""Stopping criteria as `solve` takes them in Python: as text, as a list, or as keywords."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from islands.configuration.given import twice
from islands.configuration.stop import Criterion, parse
from islands.errors import UsageError

KEYWORDS = ("seconds", "generations", "evaluations", "target", "gap", "stagnation")
"""The criteria that `solve` takes as keywords: all with a value."""


def stop_texts(stop: Any, keywords: Mapping[str, Any]) -> list[str] | None:
    """Return all criteria as `--stop` takes them, or None without any.

    Refuse a keyword and a criterion in `stop` of the same kind with different values. A keyword
    whose value is None is not given.
    """
    given = {name: value for name, value in keywords.items() if value is not None}
    if stop is None and not given:
        return None
    texts = _texts(stop)
    found = {name: _criterion(name, value) for name, value in given.items()}
    for text in texts:
        other = parse(text)
        own = found.pop(other.kind, None)
        if own is not None and own.value != other.value:
            words = f"{other.kind}={_written(given[other.kind])}"
            raise twice(other.kind, f'stop="{text}"', words)
    return [*texts, *(criterion.text for criterion in found.values())]


def _texts(stop: Any) -> list[str]:
    """Return the criteria in `stop`; refuse values that are neither text nor a list of texts."""
    if stop is None:
        return []
    texts = [stop] if isinstance(stop, str) else stop
    if isinstance(texts, list | tuple) and all(isinstance(each, str) for each in texts):
        return list(texts)
    number = next((each for each in _items(texts) if not isinstance(each, str)), stop)
    value = _written(number) if _is_number(number) else "100"
    raise UsageError(
        f"stop={stop!r}: names no criterion. Write generations={value} or"
        f' stop="generations={value}"; other criteria are {", ".join(KEYWORDS)}'
    )


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _criterion(name: str, value: Any) -> Criterion:
    if not _is_number(value) and not isinstance(value, str):
        raise UsageError(f"{name}={value!r}: must be a number. Write {name}=100")
    return parse(f"{name}={_written(value)}", f"{name}={_written(value)}")


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float | np.integer | np.floating)
    return is_number and not isinstance(value, bool)


def _written(value: Any) -> str:
    """Return a value as text: a number without decimals as an integer."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)
