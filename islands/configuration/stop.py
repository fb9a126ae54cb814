"""Stopping criteria: pure functions of the progress of one run, or of several runs at once.

They have no counters, so a resumed run stops at the same point as an uninterrupted one.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import reduce
from operator import or_
from typing import Any

from islands.errors import UsageError
from islands.problems.base import Problem
from islands.progress.progress import Progress
from islands.progress.standings import BestCost, Standings
from islands.text import counted, meant, nearest, option, seconds, unknown

CONVERGED = "converged"
"""The criterion that ends a search when it is unlikely to improve, meant for small instances."""

LOWER_BOUND = "lower-bound"
"""The criterion that is added to all others if the problem has a lower bound; without a value, it
means this bound."""
_PROBLEM_BOUND = math.inf

_MOST_DIGITS = 308  # decimal exponent of the largest floating-point number

State = Progress | Standings
"""The progress of a run, or that of several runs in arrays."""


def _same(number: float) -> float:
    return number


@dataclass(frozen=True)
class StopKind:
    """A kind of criterion: how to read and check its value, when it is met, and its description."""

    example: str
    read: Callable[[str], float]
    """Converts the text of the value."""
    words: Callable[[float], str]
    """Describes the criterion."""
    met: Callable[[Any, float], Any]
    """Returns whether a run ends now, or an array for several runs."""
    reason: Callable[[Progress, float], str]
    """Explains why the run has ended."""
    needs: str = ""
    """The value of the catalogue that the criterion needs."""
    require: Callable[[float], float] = _same
    """Returns the value, converted to its type; raises a `ValueError` if it is not allowed."""
    default: float | None = None
    """The value if none is given; None if one is required."""


def _number(text: str) -> float:
    """Convert a text to a number; integers of any size are exact."""
    try:
        exact = Decimal(text)
    except InvalidOperation:
        exact = Decimal("nan")
    if exact.is_finite() and abs(exact.adjusted()) <= _MOST_DIGITS and exact == int(exact):
        return int(exact)
    try:
        return float(text)
    except ValueError:
        raise ValueError("must be a number") from None


def _percent(text: str) -> float:
    return _number(text.removesuffix("%"))


def _finite(number: float) -> float:
    try:
        is_finite = math.isfinite(number)
    except OverflowError:  # a large integer
        is_finite = False
    if not is_finite:
        raise ValueError("must be a finite number")
    return number


def _whole(number: float) -> int:
    if _finite(number) != int(number):
        raise ValueError("must be a whole number")
    return int(number)


def _cost(number: float) -> float:
    return int(number) if _finite(number) == int(number) else number


def _at_least_one(number: float) -> int:
    if _whole(number) < 1:
        raise ValueError("must be at least 1. Raise it")
    return int(number)


def _real(is_allowed: Callable[[float], bool], rule: str) -> Callable[[float], float]:
    """Return a function that returns allowed numbers as `float`; it rejects others with `rule`."""

    def required(number: float) -> float:
        if not is_allowed(_finite(number)):
            raise ValueError(rule)
        return float(number)

    return required


def _stands_still(state: State, limit: float) -> Any:
    return state.generation - state.best_generation >= limit


def _idle(progress: Progress, _: float = 0) -> str:
    idle = progress.generation - progress.best_generation
    return f"no improvement for {counted(idle, 'generation')}"


def _converged(progress: Progress, _: float) -> str:
    if progress.has_converged:
        return "converged: on each island, all costs are equal or no longer improve"
    return f"converged: {_idle(progress)}"


def _known(kind: str, noun: str, needs: str) -> StopKind:
    """Return a criterion on the best known cost, which takes no value."""
    return StopKind(
        kind,
        lambda _: 0,
        f"the {noun}".format,
        lambda state, _: state.has_reached_best_known,
        lambda progress, _: f"{noun} {progress.best_known} reached",
        needs=needs,
    )


def _bound_reached(progress: Progress, value: float) -> str:
    bound = progress.lower_bound if value == _PROBLEM_BOUND else value
    return f"lower bound {bound} reached, which proves the optimum"


def _bound_words(value: float) -> str:
    return "the lower bound" if value == _PROBLEM_BOUND else f"cost {value}, a lower bound"


def _meets_bound(state: State | BestCost, value: float) -> Any:
    return state.has_reached_lower_bound if value == _PROBLEM_BOUND else state.reached(value)


def _count_of(noun: str, rest: str = "", form: str = "") -> Callable[[float], str]:
    """Return a function that writes a number with its noun."""
    return lambda value: f"{counted(value, noun, form=form)}{rest}"


_TARGETS = ("target", LOWER_BOUND, "gap", "best-known", "optimum")
"""The criteria on the best cost."""

CRITERIA = {
    "generations": StopKind(
        "generations=1000",
        _number,
        _count_of("generation"),
        lambda state, limit: state.generation >= limit,
        lambda _, limit: f"{counted(limit, 'generation')} done",
        require=_at_least_one,
    ),
    "seconds": StopKind(
        "seconds=60",
        seconds,
        "{:g} s".format,
        lambda state, limit: state.seconds >= limit,
        lambda _, limit: f"time limit of {limit:g} s reached",
        require=_real(lambda number: number > 0, "must be more than 0. Raise it"),
    ),
    "evaluations": StopKind(
        "evaluations=1e9",
        _number,
        _count_of("evaluation", form=","),
        lambda state, limit: state.evaluations >= limit,
        lambda _, limit: f"evaluation limit of {limit} reached",
        require=_at_least_one,
    ),
    "target": StopKind(
        "target=9552",
        _number,
        "cost {}".format,
        lambda state, value: state.reached(value),
        lambda _, value: f"target {value} reached",
        require=_cost,
    ),
    LOWER_BOUND: StopKind(
        "lower-bound=9552",
        _number,
        _bound_words,
        _meets_bound,
        _bound_reached,
        require=_cost,
        default=_PROBLEM_BOUND,
    ),
    "gap": StopKind(
        "gap=0.5%",
        _percent,
        "gap at most {:g}%".format,
        lambda state, percent: state.is_within(percent),
        lambda _, percent: f"target gap of {percent:g}% reached",
        needs="best known value",
        require=_real(lambda number: number >= 0, "must be at least 0%. Raise it"),
    ),
    "best-known": _known("best-known", "best known cost", needs="best known value"),
    "optimum": _known("optimum", "proven optimum", needs="optimum"),
    "stagnation": StopKind(
        "stagnation=200",
        _number,
        _count_of("generation", " without a better solution"),
        _stands_still,
        _idle,
        require=_at_least_one,
    ),
    # The algorithm sets the limit; until then, it is infinite.
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
    """A stopping criterion: its kind, a key of `CRITERIA`, and its value."""

    kind: str
    value: float
    """For `converged`, a number of generations without improvement, which the algorithm sets."""
    text: str
    """The criterion as `--stop` accepts it."""

    def met(self, state: State) -> Any:
        """Return whether the run stops now; for several runs, an array."""
        return CRITERIA[self.kind].met(state, self.value)

    @property
    def is_target(self) -> bool:
        """Whether the criterion depends on the best cost only."""
        return self.kind in _TARGETS

    def reached_by(self, end: BestCost) -> bool:
        """Return whether the best cost of a finished run meets this target."""
        return bool(CRITERIA[self.kind].met(end, self.value))

    def reason(self, progress: Progress) -> str | None:
        """Return why the run stops now, or None if it does not."""
        return CRITERIA[self.kind].reason(progress, self.value) if self.met(progress) else None

    def words(self) -> str:
        """Return the description of the criterion."""
        return CRITERIA[self.kind].words(self.value)


_OTHERS = {
    "seconds=60": "time time_limit timeout max_time max_runtime max_seconds",
    "generations=N": "generation iterations max_generations max_iter max_iterations maxiter n_gen"
    " n_generations n_iter num_iterations",
    "evaluations=N": "n_trials max_evals max_evaluations n_eval maxfun",
    "stagnation=200": "patience early_stopping max_no_improvement",
}
OTHER_CRITERIA = {name: fix for fix, names in _OTHERS.items() for name in names.split()}
"""Criteria of other libraries, and how to write them in islands."""


def parse(text: str, quoted: str = "") -> Criterion:
    """Return the criterion of `--stop TEXT`; errors quote `quoted` instead if it is given."""
    quoted = quoted or option("stop", text)
    name, equals, value = (part.strip() for part in text.partition("="))
    name = meant(name, CRITERIA)
    if name in OTHER_CRITERIA and not nearest(name, CRITERIA):
        example = option("stop", OTHER_CRITERIA[name])
        raise UsageError(f"{quoted}: {name} is not a stopping criterion. Write {example}")
    if name not in CRITERIA:
        raise UsageError(f"{quoted}: {unknown('criterion', name, CRITERIA)}")
    kind = CRITERIA[name]
    takes_value = "=" in kind.example
    if not equals and kind.default is not None:
        return Criterion(name, kind.default, name)
    if takes_value and not value:
        raise UsageError(f"{quoted}: needs a value, such as {option('stop', kind.example)}")
    if equals and not takes_value:
        raise UsageError(f"{quoted}: takes no value; write {option('stop', name)}")
    try:
        number = kind.require(kind.read(value))
    except ValueError as error:
        raise UsageError(f"{quoted}: {error}") from None
    return Criterion(name, number, f"{name}={value}" if takes_value else name)


def require_known(criteria: Iterable[Criterion], problem: Problem) -> None:
    """Reject criteria that need a best known value or an optimum that is unknown."""
    known, instance = problem.best_known, problem.instance
    for criterion in criteria:
        needs = CRITERIA[criterion.kind].needs
        if needs and (known is None or (needs == "optimum" and known.status != "optimal")):
            stop, target = option("stop", criterion.text), option("stop", "target=VALUE")
            if problem.path is None and needs != "optimum":
                raise UsageError(
                    f"{stop}: the script states no {needs} for {instance}. Add best_known=VALUE to"
                    f" the problem, or use {target}"
                )
            raise UsageError(f"{stop}: the catalogue has no {needs} for {instance}. Use {target}")


def last_generation(criteria: Iterable[Criterion]) -> int | None:
    """Return the limit of generations; None without one."""
    limits = [int(criterion.value) for criterion in criteria if criterion.kind == "generations"]
    return min(limits, default=None)


def time_limit(criteria: Iterable[Criterion]) -> float:
    """Return the time limit in seconds; infinity without one."""
    limits = [criterion.value for criterion in criteria if criterion.kind == "seconds"]
    return min(limits, default=math.inf)


def is_spent(criteria: Iterable[Criterion], state: State) -> Any:
    """Return whether a limit of evaluations is reached; for several runs, an array."""
    met = [criterion.met(state) for criterion in criteria if criterion.kind == "evaluations"]
    return reduce(or_, met, False)


def seconds_left(criteria: Iterable[Criterion], progress: Progress) -> float | None:
    """Estimate the remaining seconds if no target is reached; None without a limit on effort."""
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
    """Return the reason of the first criterion that is met, or None."""
    reasons = (criterion.reason(progress) for criterion in criteria)
    return next((reason for reason in reasons if reason is not None), None)


def criteria_of(value: Any) -> list[Criterion]:
    """Return the criteria of a setting `stop`: a text, a criterion, or a list of these."""
    items = value if isinstance(value, list | tuple) else [value]
    return [item if isinstance(item, Criterion) else parse(str(item)) for item in items]
