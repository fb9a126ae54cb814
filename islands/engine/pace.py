"""The number of generations between looks at the clock, and until a run can end."""

from __future__ import annotations

import math
from typing import Any

from islands.algorithms import ALGORITHMS, KIND
from islands.configuration.resolved import Resolved
from islands.configuration.spec import RunSpec
from islands.improvers import KIND as IMPROVERS
from islands.improvers import improvers_for
from islands.progress.progress import Progress

_STEP_SECONDS = 0.5
"""Approximate maximum time between checks of the clock and of signals."""
_QUICK_SECONDS = _STEP_SECONDS / 10
"""The time of a step that would still end in time if it took twenty times as long."""
_ENOUGH = 10
"""Searches that must have been measured, on average, before their time predicts that of others."""
_REMEMBERED = 0.9
"""The share of the slowest time that counts after another step, which may have been lucky."""


class Pace:
    """The number of generations in a step, adapted to the speed of the run.

    Ranks with the same times get the same steps.
    """

    def __init__(
        self,
        spec: RunSpec,
        generation: int = 0,
        seconds: float = 0.0,
        *,
        may_take_long: bool = False,
    ) -> None:
        """Begin at a generation, and at the time when it was completed.

        If a generation `may_take_long`, a step is at most twice as long as the last one: a few
        quick generations predict little, and a step that is abandoned at the end of a run is lost.
        """
        self._is_careful = may_take_long
        self._first = first_step(spec)
        has_limit = any(criterion.kind == "evaluations" for criterion in spec.stop)
        self._counts_every = self._first if has_limit else 0
        self.step = max(1, self._first)
        self._waited_at = generation, seconds
        self._plain = math.inf
        self._searching = 0.0
        """Seconds per generation in the slowest recent steps, without and with local search."""
        self._searched_each, self._searched = _searched_individuals(spec), 0.0

    def may_be_slow(self, generation: int, step: int) -> bool:
        """Return whether a step may last much longer than the interval between checks.

        An evaluation or a local search may take many times longer than previous ones. Where the
        host can prepare for that at no cost, as on a CPU, it does so for all steps instead.
        """
        if searches := self._searches(generation, generation + step):
            is_known = self._searched >= _ENOUGH
            return not is_known or self._searching * searches > _QUICK_SECONDS
        return self._plain * step > _QUICK_SECONDS

    def next_count(self, generation: int) -> float:
        """Return the next generation at which evaluations are compared with their limit.

        Local search may need any number of them, so that the end of the epoch is too late. Infinite
        without local search or without a limit.
        """
        every = self._counts_every
        return generation - generation % every + every if every else math.inf

    def counts_at(self, generation: Any) -> Any:
        """Return whether evaluations are compared with their limit at a generation.

        Of an array of generations, return an array.
        """
        every = self._counts_every
        return (generation > 0) & (generation % every == 0) if every else False

    def epoch_ended(self, before: Progress | None, generation: int, seconds: float) -> None:
        """Adapt to the speed of the epoch that has ended."""
        measured = generation - before.generation if before is not None else 1
        self.step = self._limited(step_after(before, generation, seconds, self._first), measured)
        since = (before.generation, before.seconds) if before is not None else (generation - 1, 0.0)
        self._update(*since, generation, seconds)
        self._waited_at = generation, seconds

    def step_ended(self, generation: int, seconds: float) -> None:
        """Lengthen the steps if the last one was quick, or shorten them where they may be lost."""
        before, since = self._waited_at
        fitting = self._limited(_fitting(generation - before, seconds - since), generation - before)
        self.step = max(1, self._first, fitting) if self._is_careful else max(self.step, fitting)
        self._update(before, since, generation, seconds)
        self._waited_at = generation, seconds

    def _limited(self, step: int, measured: int) -> int:
        """Return the length of a step after a number of generations whose time was measured."""
        return min(step, max(1, self._first, 2 * measured)) if self._is_careful else step

    def _update(self, before: int, since: float, generation: int, seconds: float) -> None:
        # Generation 0 has no local search, whatever its number suggests.
        if searches := self._searches(max(before, 0), generation):
            self._searched += searches * self._searched_each
            self._searching = max((seconds - since) / searches, _REMEMBERED * self._searching)
        elif generation > before:
            slowest = 0.0 if math.isinf(self._plain) else self._plain
            self._plain = max((seconds - since) / (generation - before), _REMEMBERED * slowest)

    def _searches(self, before: int, generation: int) -> int:
        """Return the number of generations with local search in (before, generation]."""
        return generation // self._first - before // self._first if self._first else 0


def step_after(before: Progress | None, generation: int, seconds: float, first: int) -> int:
    """Return the number of generations that take about half a second at the last epoch's speed.

    With local search, each step has at least `first` generations, so that it contains one with
    searches.
    """
    if before is None:
        # Generation 0 takes about as long as any other generation without local search.
        return first or _fitting(1, seconds)
    return max(first, _fitting(generation - before.generation, seconds - before.seconds))


def first_step(spec: RunSpec) -> int:
    """Return how many generations contain one with local search, or 0 without any."""
    steps = [
        1 if not ALGORITHMS[each.algorithm].improves else max(1, each.improver.every // each.rate)
        for each in spec.all_colonies
        if each.improver.name != "none" or not ALGORITHMS[each.algorithm].improves
    ]
    return min(steps, default=0)


def _searched_individuals(spec: RunSpec) -> float:
    """Return the mean number of individuals with a local search in a generation that has some.

    Infinite if an algorithm searches itself, or if there is no search.
    """
    return min(
        (
            each.islands * each.population * each.rate * each.improver.rate
            for each in spec.all_colonies
            if each.improver.name != "none" and ALGORITHMS[each.algorithm].improves
        ),
        default=math.inf,
    )


def _fitting(generations: int, elapsed: float) -> int:
    """Return the number of generations in half a second at the speed of the given ones."""
    fitting = int(_STEP_SECONDS * generations / max(elapsed, 1e-9))
    # Use powers of two only, as a GPU stores a prepared graph for each number.
    return 1 << max(0, fitting.bit_length() - 1)


def most_evaluations(resolved: Resolved) -> float:
    """Return an upper bound of the evaluations of a run in one generation; infinite if unknown."""
    most, problem = 0.0, resolved.problem
    for each in resolved.spec.all_colonies:
        algorithm = ALGORITHMS[each.algorithm]
        if not algorithm.improves or not KIND.has_built_in(algorithm):
            return math.inf
        improver = improvers_for(problem.solution_kind)[each.improver.name]
        if not IMPROVERS.has_built_in(improver):
            return math.inf
        calls = algorithm.children + improver(each.improver, problem.size).most_calls()
        most += each.islands * each.population * each.rate * calls
    return most
