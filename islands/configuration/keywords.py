"""Read the settings of a call in Python, such as `islands.solve`."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Unpack

from islands.configuration.asked import Asked
from islands.configuration.given import gathered, of_table, twice
from islands.configuration.stop import CRITERIA, Criterion, parse
from islands.custom.trust import trust_named
from islands.errors import UsageError
from islands.keywords import ManyKeywords

CRITERION_KEYWORDS = ("seconds", "generations", "evaluations", "target", "gap", "stagnation")
"""The criteria that `solve` takes as keywords: all with a value."""


class CallKeywords(ManyKeywords, total=False):
    """The settings and criteria that calls have as arguments of their own."""

    instance: str | None
    seed: int | None
    backend: str | None
    threads: int | None


def of_keywords(others: Mapping[str, Any], **read: Unpack[CallKeywords]) -> Asked:
    """Return what a call asks for; of the settings that were `read`, None is not given.

    A program has stated them, so the scripts that they name may run.
    """
    config = read.pop("config", None)
    own = {name: value for name, value in read.items() if value is not None}
    named = {name: own.pop(name) for name in CRITERION_KEYWORDS if name in own}
    if criteria := _criteria(own.pop("stop", []), named):
        own["stop"] = criteria
    options = gathered([*of_table(own), *of_table(others)])
    trust_named(options)
    return Asked(options, None if config is None else Path(config))


def _criteria(stop: Any, named: Mapping[str, Any]) -> list[Criterion]:
    """Return the criteria of a call.

    Refuse a keyword and a criterion in `stop` of the same kind with different values.
    """
    texts = [stop] if isinstance(stop, str) else stop
    if not isinstance(texts, list | tuple) or not all(isinstance(each, str) for each in texts):
        items = texts if isinstance(texts, list | tuple) else [texts]
        number = next(each for each in items if not isinstance(each, str))
        value = _written(number) if _is_number(number) else "100"
        raise UsageError(
            f"stop={stop!r}: is not a stopping criterion. Write generations={value} or"
            f' stop="generations={value}"; other criteria are {", ".join(CRITERION_KEYWORDS)}'
        )
    found = {name: _criterion(name, value) for name, value in named.items()}
    others = [parse(text) for text in texts]
    for other, text in zip(others, texts, strict=True):
        own = found.pop(other.kind, None)
        if own is not None and own.value != other.value:
            words = f"{other.kind}={_written(named[other.kind])}"
            raise twice(other.kind, f'stop="{text}"', words)
    return [*others, *found.values()]


def _criterion(name: str, value: Any) -> Criterion:
    if isinstance(value, str):
        return parse(f"{name}={value}", f"{name}={value}")
    if not _is_number(value):
        raise UsageError(f"{name}={value!r}: must be a number. Write {name}=100")
    number = int(value) if isinstance(value, Integral) else float(value)
    text = f"{name}={_written(number)}"
    try:
        return Criterion(name, CRITERIA[name].require(number), text)
    except ValueError as error:
        raise UsageError(f"{text}: {error}") from None


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)  # also of NumPy


def _written(value: Any) -> str:
    """Return a value as text: a number without decimals as an integer."""
    return str(int(value)) if _is_number(value) and value % 1 == 0 else str(value)
