"""Stopping criteria: pure functions of the progress of one run, or of several runs at once.

They have no counters, so a resumed run stops at the same point as an uninterrupted one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import reduce
from numbers import Real
from operator import or_
from typing import Any

from islands.configuration.given import twice
from islands.errors import UsageError
from islands.instances.catalogue import BestKnown
from islands.progress.progress import Progress
from islands.progress.standings import Standing, Standings
from islands.text import counted, meant, nearest, option, seconds, unknown

KEYWORDS = ("seconds", "generations", "evaluations", "target", "gap", "stagnation")
"""The criteria that `solve` takes as keywords: all with a value."""

CONVERGED = "converged"
"""The criterion of a search that is unlikely to find more: for many small instances."""

LOWER_BOUND = "lower-bound"
"""The criterion that a problem with a lower bound adds to all others."""


State = Progress | Standings
"""What criteria read: the progress of a run, or of several ones in arrays."""


@dataclass(frozen=True)
class StopKind:
    """A kind of criterion: how to read its value, describe it, test it and give the reason."""

    example: str
    read: Callable[[str], float]
    words: Callable[[float], str]
    met: Callable[[State, float], Any]
    """Whether a run ends now, or each of several runs, in an array."""
    reason: Callable[[Progress, float], str]
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
    rounded = _number(text)
    try:
        exact = Decimal(text)
    except InvalidOperation:
        raise ValueError("must be a number with fewer digits") from None
    return int(exact) if exact == int(exact) else rounded


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


def _stands_still(state: State, limit: float) -> Any:
    return state.generation - state.best_generation >= limit


def _idle(progress: Progress, _: float = 0) -> str:
    idle = progress.generation - progress.best_generation
    return f"no improvement for {counted(idle, 'generation')}"


def _converged(progress: Progress, _: float) -> str:
    if progress.has_converged:
        return "converged: on each island, all costs are equal or no longer improve"
    return f"converged: {_idle(progress)}"


def _known(words: str) -> Callable[[Progress, float], str]:
    return lambda progress, _: f"{words} {progress.best_known} reached"


def _words(noun: str, rest: str = "", form: str = "") -> Callable[[float], str]:
    """Return a function that describes a number of items."""
    return lambda value: f"{counted(value, noun, form=form)}{rest}"


_TARGETS: dict[str, Callable[[State | Standing, float], Any]] = {
    "target": lambda state, value: state.reached(value),
    "lower-bound": lambda state, value: state.reached(value),
    "gap": lambda state, percent: state.is_within(percent),
    "best-known": lambda state, _: state.has_reached_best_known,
    "optimum": lambda state, _: state.has_reached_best_known,
}
"""Whether criteria on the best cost are met."""

CRITERIA = {
    "generations": StopKind(
        "generations=1000",
        _at_least_one,
        _words("generation"),
        lambda state, limit: state.generation >= limit,
        lambda _, limit: f"{counted(limit, 'generation')} done",
    ),
    "seconds": StopKind(
        "seconds=60",
        _seconds,
        "{:g} s".format,
        lambda state, limit: state.seconds >= limit,
        lambda _, limit: f"time limit of {limit:g} s reached",
    ),
    "evaluations": StopKind(
        "evaluations=1e9",
        _at_least_one,
        _words("evaluation", form=","),
        lambda state, limit: state.evaluations >= limit,
        lambda _, limit: f"evaluation limit of {limit} reached",
    ),
    "target": StopKind(
        "target=9552",
        _cost,
        "cost {}".format,
        _TARGETS["target"],
        lambda _, value: f"target {value} reached",
    ),
    LOWER_BOUND: StopKind(
        "lower-bound=9552",
        _cost,
        "cost {}, a lower bound".format,
        _TARGETS["lower-bound"],
        lambda _, value: f"lower bound {value} reached, which proves the optimum",
    ),
    "gap": StopKind(
        "gap=0.5%",
        _percent,
        "gap at most {:g}%".format,
        _TARGETS["gap"],
        lambda _, percent: f"target gap of {percent:g}% reached",
        needs="best known value",
    ),
    "best-known": StopKind(
        "best-known",
        _no_value,
        "the best known cost".format,
        _TARGETS["best-known"],
        _known("best known cost"),
        needs="best known value",
    ),
    "optimum": StopKind(
        "optimum",
        _no_value,
        "the proven optimum".format,
        _TARGETS["optimum"],
        _known("proven optimum"),
        needs="optimum",
    ),
    "stagnation": StopKind(
        "stagnation=200",
        _at_least_one,
        _words("generation", " without a better solution"),
        _stands_still,
        _idle,
    ),
    # The algorithm says for how long; until then, a standstill ends no run.
    CONVERGED: StopKind(
        CONVERGED,
        lambda _: math.inf,
        "convergence".format,
        lambda state, limit: state.has_converged | _stands_still(state, limit),
        _converged,
    ),
}


@dataclass(frozen=True)
class Criterion:
    """One reason to stop: a kind of `CRITERIA` and its value."""

    kind: str
    value: float
    """Of `converged`: the standstill of its algorithm, in generations."""
    text: str
    """The text that `--stop` accepts."""

    def met(self, state: State) -> Any:
        """Return whether the run stops now, or each of several runs, in an array."""
        return CRITERIA[self.kind].met(state, self.value)

    @property
    def is_target(self) -> bool:
        """Whether it depends on the best cost alone."""
        return self.kind in _TARGETS

    def reached_by(self, end: Standing) -> bool:
        """Return whether the best cost of a run has met this target."""
        return bool(_TARGETS[self.kind](end, self.value))

    def reason(self, progress: Progress) -> str | None:
        """Return why the run stops now, or None."""
        return CRITERIA[self.kind].reason(progress, self.value) if self.met(progress) else None

    def words(self) -> str:
        """Return the criterion in words."""
        return CRITERIA[self.kind].words(self.value)


OTHER_CRITERIA = {
    **dict.fromkeys(
        ("time", "time_limit", "timeout", "max_time", "max_runtime", "max_seconds"), "seconds=60"
    ),
    **dict.fromkeys(
        (
            "generation",
            "iterations",
            "max_generations",
            "max_iter",
            "max_iterations",
            "maxiter",
            "n_gen",
            "n_generations",
            "n_iter",
            "num_iterations",
        ),
        "generations=N",
    ),
    **dict.fromkeys(
        ("n_trials", "max_evals", "max_evaluations", "n_eval", "maxfun"), "evaluations=N"
    ),
    **dict.fromkeys(("patience", "early_stopping", "max_no_improvement"), "stagnation=200"),
}
"""What to write instead of names that other libraries have."""


def parse(text: str, words: str = "") -> Criterion:
    """Return the criterion of `--stop TEXT`; errors quote `words` instead if they are given."""
    words = words or option("stop", text)
    name, equals, value = (part.strip() for part in text.partition("="))
    name = meant(name, CRITERIA)
    if name in OTHER_CRITERIA and not nearest(name, CRITERIA):
        example = option("stop", OTHER_CRITERIA[name])
        raise UsageError(f"{words}: {name} is not a stopping criterion. Write {example}")
    if name not in CRITERIA:
        raise UsageError(f"{words}: {unknown('criterion', name, CRITERIA)}")
    kind = CRITERIA[name]
    takes_value = "=" in kind.example
    if takes_value and not value:
        example = option("stop", kind.example)
        raise UsageError(f"{words}: needs a value, such as {example}")
    if equals and not takes_value:
        raise UsageError(f"{words}: takes no value; write {option('stop', name)}")
    try:
        return Criterion(name, kind.read(value), f"{name}={value}" if takes_value else name)
    except ValueError as error:
        raise UsageError(f"{words}: {error}") from None


def require_known(
    criteria: Iterable[Criterion],
    instance: str,
    known: BestKnown | None,
    *,
    is_of_script: bool = False,
) -> None:
    """Refuse criteria that need a best known value or an optimum that is unknown.

    A script states the best known value itself.
    """
    for criterion in criteria:
        needs = CRITERIA[criterion.kind].needs
        if needs and (known is None or (needs == "optimum" and known.status != "optimal")):
            target = option("stop", "target=VALUE")
            if is_of_script and needs != "optimum":
                raise UsageError(
                    f"{option('stop', criterion.text)}: the script states no {needs} for"
                    f" {instance}. Add best_known=VALUE to the problem, or use {target}"
                )
            raise UsageError(
                f"{option('stop', criterion.text)}: the catalogue has no {needs} for {instance}."
                f" Use {target}"
            )


def last_generation(criteria: Iterable[Criterion]) -> int | None:
    """Return the last possible generation of the run, or None without such a criterion."""
    limits = [int(criterion.value) for criterion in criteria if criterion.kind == "generations"]
    return min(limits, default=None)


def time_limit(criteria: Iterable[Criterion]) -> float:
    """Return the time limit of the run in seconds; infinite without one."""
    limits = [criterion.value for criterion in criteria if criterion.kind == "seconds"]
    return min(limits, default=math.inf)


def is_spent(criteria: Iterable[Criterion], state: State) -> Any:
    """Return whether a limit of evaluations is reached, by a run or by each of several."""
    met = [each.met(state) for each in criteria if each.kind == "evaluations"]
    return reduce(or_, met, False)


def seconds_left(criteria: Iterable[Criterion], progress: Progress) -> float | None:
    """Return an upper estimate of the remaining time; None if no criterion limits the effort."""
    if progress.seconds <= 0:
        return None
    done = {
        "seconds": progress.seconds,
        "generations": progress.generation,
        "evaluations": progress.evaluations,
    }
    left = [
        max(0.0, criterion.value - done[criterion.kind]) * progress.seconds / done[criterion.kind]
        for criterion in criteria
        if done.get(criterion.kind)
    ]
    return min(left, default=None)


def first_reason(criteria: Iterable[Criterion], progress: Progress) -> str | None:
    """Return the reason of the first criterion that is satisfied, or None."""
    reasons = (criterion.reason(progress) for criterion in criteria)
    return next((reason for reason in reasons if reason is not None), None)


def stop_texts(stop: Any, keywords: Mapping[str, Any]) -> list[str] | None:
    """Return all criteria as `--stop` takes them, or None without any.

    Refuse a keyword and a criterion in `stop` of the same kind with different values. A keyword
    whose value is None is not given.
    """
    given = {name: value for name, value in keywords.items() if value is not None}
    if stop is None and not given:
        return None
    texts = [] if stop is None else [stop] if isinstance(stop, str) else stop
    if not isinstance(texts, list | tuple) or not all(isinstance(each, str) for each in texts):
        items = texts if isinstance(texts, list | tuple) else [texts]
        number = next(each for each in items if not isinstance(each, str))
        value = _written(number) if _is_number(number) else "100"
        raise UsageError(
            f"stop={stop!r}: is not a stopping criterion. Write generations={value} or"
            f' stop="generations={value}"; other criteria are {", ".join(KEYWORDS)}'
        )
    found = {name: _criterion(name, value) for name, value in given.items()}
    for text in texts:
        other = parse(text)
        own = found.pop(other.kind, None)
        if own is not None and own.value != other.value:
            words = f"{other.kind}={_written(given[other.kind])}"
            raise twice(other.kind, f'stop="{text}"', words)
    return [*texts, *(criterion.text for criterion in found.values())]


def _criterion(name: str, value: Any) -> Criterion:
    if not _is_number(value) and not isinstance(value, str):
        raise UsageError(f"{name}={value!r}: must be a number. Write {name}=100")
    return parse(f"{name}={_written(value)}", f"{name}={_written(value)}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)  # also of NumPy


def _written(value: Any) -> str:
    """Return a value as text: a number without decimals as an integer."""
    return str(int(value)) if _is_number(value) and value % 1 == 0 else str(value)
