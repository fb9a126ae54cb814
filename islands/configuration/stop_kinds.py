"""The kinds of stopping criteria: how to read a value, and when a run with it stops."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from islands.progress.progress import Progress
from islands.text import counted, seconds


@dataclass(frozen=True)
class StopKind:
    """A kind of criterion: how to read its value, describe it and give the reason to stop."""

    example: str
    read: Callable[[str], float]
    words: Callable[[float], str]
    reason: Callable[[Progress, float], str | None]
    needs: str = ""
    """The value of the catalogue that it needs."""


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError("must be a number") from None
    if not math.isfinite(number):
        raise ValueError("must be a finite number")
    return number


def _whole(text: str) -> int:
    number = int(text) if text.lstrip("+-").isdecimal() else _number(text)
    if number != int(number):
        raise ValueError("must be a whole number")
    return int(number)


def _cost(text: str) -> float:
    """Return a cost; integers of any size are exact."""
    nearest = _number(text)
    try:
        exact = Decimal(text)
    except InvalidOperation:
        raise ValueError("must be a number with fewer digits") from None
    return int(exact) if exact == int(exact) else nearest


def _at_least_one(text: str) -> int:
    number = _whole(text)
    if number < 1:
        raise ValueError("must be at least 1")
    return number


def _seconds(text: str) -> float:
    number = seconds(text)
    if number <= 0:
        raise ValueError("must be more than 0")
    return number


def _percent(text: str) -> float:
    percent = _number(text.removesuffix("%"))
    if percent < 0:
        raise ValueError("must be at least 0%")
    return percent


def _no_value(_: str) -> float:
    return 0


def _generations(progress: Progress, limit: float) -> str | None:
    return f"{counted(limit, 'generation')} done" if progress.generation >= limit else None


def _time(progress: Progress, limit: float) -> str | None:
    reached = progress.seconds >= limit
    return f"{progress.seconds:.1f} s is at least {limit:g} s" if reached else None


def _evaluations(progress: Progress, limit: float) -> str | None:
    reached = progress.evaluations >= limit
    made = counted(progress.evaluations, "evaluation")
    return f"{made} is at least {limit}" if reached else None


def _target(progress: Progress, value: float) -> str | None:
    return f"cost {progress.cost} reached the target {value}" if progress.reached(value) else None


def _gap(progress: Progress, percent: float) -> str | None:
    if progress.gap is None or progress.gap > percent:
        return None
    return f"gap {progress.gap:.3g}% is at most {percent:g}%"


def _best_known(progress: Progress, _: float) -> str | None:
    if progress.best_known is None or not progress.reached(progress.best_known):
        return None
    return f"cost {progress.cost} reached the best known {progress.best_known}"


def _optimum(progress: Progress, _: float) -> str | None:
    if progress.best_known is None or not progress.reached(progress.best_known):
        return None
    return f"cost {progress.cost} is the proven optimum"


def _stagnation(progress: Progress, limit: float) -> str | None:
    idle = progress.generation - progress.best_generation
    return f"no better solution for {counted(idle, 'generation')}" if idle >= limit else None


def _words(noun: str, rest: str = "", form: str = "") -> Callable[[float], str]:
    """Return a function that describes a number of items."""
    return lambda value: f"{counted(value, noun, form=form)}{rest}"


KINDS = {
    "generations": StopKind("generations=1000", _at_least_one, _words("generation"), _generations),
    "seconds": StopKind("seconds=60", _seconds, "{:g} s".format, _time),
    "evaluations": StopKind(
        "evaluations=1e9", _at_least_one, _words("evaluation", form=","), _evaluations
    ),
    "target": StopKind("target=9552", _cost, "cost {}".format, _target),
    "gap": StopKind(
        "gap=0.5%", _percent, "gap at most {:g}%".format, _gap, needs="best known value"
    ),
    "best-known": StopKind(
        "best-known", _no_value, "the best known cost".format, _best_known, needs="best known value"
    ),
    "optimum": StopKind(
        "optimum", _no_value, "the proven optimum".format, _optimum, needs="optimum"
    ),
    "stagnation": StopKind(
        "stagnation=200",
        _at_least_one,
        _words("generation", " without a better solution"),
        _stagnation,
    ),
}
