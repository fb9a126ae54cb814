"""Read the settings of a call in Python, such as `islands.solve`."""

from collections.abc import Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Unpack

from islands.configuration.given import gathered, of_table, twice
from islands.configuration.request import Request
from islands.configuration.stop import CRITERIA, Criterion, parse
from islands.custom.trust import trust_named
from islands.errors import UsageError
from islands.keywords import ManyKeywords

CRITERION_KEYWORDS = ("seconds", "generations", "evaluations", "target", "gap", "stagnation")
"""The criteria that are keyword arguments of `solve`; all take a value."""


class CallKeywords(ManyKeywords, total=False):
    """The settings and criteria that are named arguments of calls."""

    instance: str | None
    seed: int | None
    backend: str | None
    threads: int | None


def of_keywords(others: Mapping[str, Any], **arguments: Unpack[CallKeywords]) -> Request:
    """Return the request of a call with these named arguments, and the settings `others`.

    Arguments that are None are left out. Scripts that a call names are trusted, since its caller
    could run them anyway.
    """
    config = arguments.pop("config", None)
    values = {name: value for name, value in arguments.items() if value is not None}
    named = {name: values.pop(name) for name in CRITERION_KEYWORDS if name in values}
    if criteria := _criteria(values.pop("stop", []), named):
        values["stop"] = criteria
    options = gathered([*of_table(values), *of_table(others)])
    trust_named(options)
    return Request(options, None if config is None else Path(config))


def _criteria(stop: Any, named: Mapping[str, Any]) -> list[Criterion]:
    """Return the criteria of `stop` and of keyword arguments.

    Reject a keyword and a criterion in `stop` of the same kind with different values.
    """
    criteria = []
    keywords = {name: _criterion(name, value) for name, value in named.items()}
    for text in stop if isinstance(stop, list | tuple) else [stop]:
        if not isinstance(text, str):
            raise _no_criterion(stop, text)
        criteria.append(criterion := parse(text))
        keyword = keywords.pop(criterion.kind, None)
        if keyword is not None and keyword.value != criterion.value:
            raise twice(keyword.kind, f'stop="{text}"', keyword.text)
    return [*criteria, *keywords.values()]


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
    return isinstance(value, Real) and not isinstance(value, bool)  # includes NumPy numbers


def _written(value: Any) -> str:
    """Return a value as text: a number without decimals as an integer."""
    return str(int(value)) if _is_number(value) and value % 1 == 0 else str(value)


def _no_criterion(stop: Any, item: Any) -> UsageError:
    value = _written(item) if _is_number(item) else "100"
    return UsageError(
        f"stop={stop!r}: is not a stopping criterion. Write generations={value} or"
        f' stop="generations={value}"; other criteria are {", ".join(CRITERION_KEYWORDS)}'
    )
