"""The length of steps: the generations between two checks of the clock, where a run can end."""

import math

from islands.algorithms import ALGORITHMS
from islands.configuration.spec import RunSpec
from islands.progress.progress import Progress

_STEP_SECONDS = 0.5
"""Approximate maximum time between checks of the clock and of signals."""
_QUICK_SECONDS = _STEP_SECONDS / 10
"""Maximum time of a quick step, which ends in time even if it takes twenty times as long."""
_ENOUGH = 10
"""Expected number of measured searches at which their time becomes a reliable prediction."""
_REMEMBERED = 0.9
"""Factor by which each faster step lowers the slowest time; a fast step may be an exception."""


class Pace:
    """The number of generations of a step, adapted to the speed of the run.

    Ranks that pass the same times get the same steps.
    """

    def __init__(
        self, spec: RunSpec, generation: int, seconds: float, *, may_take_long: bool
    ) -> None:
        """Begin at a generation and the time of its completion.

        If a generation `may_take_long`, a step is at most twice as long as the last one: a few
        quick generations predict little, and a step that is abandoned at the end of a run is lost.
        """
        self._is_careful = may_take_long
        self._period = _search_period(spec)
        self.step = max(1, self._period)
        self._waited_at = generation, seconds
        self._plain = math.inf
        self._searching = 0.0
        """Seconds per generation in the slowest recent steps, without and with local search."""
        self._searched_each, self._searched = _searched_individuals(spec), 0.0

    def may_be_slow(self, generation: int, step: int) -> bool:
        """Return whether a step may take much longer than the interval between checks.

        An evaluation or a local search may take many times as long as previous ones. The loop then
        prepares to abandon the step; on a CPU, where this costs nothing, it always does.
        """
        if searches := self._searches(generation, generation + step):
            is_known = self._searched >= _ENOUGH
            return not is_known or self._searching * searches > _QUICK_SECONDS
        return self._plain * step > _QUICK_SECONDS

    def epoch_ended(self, before: Progress | None, generation: int, seconds: float) -> None:
        """Adapt to the speed of the epoch that has ended, so that a step takes half a second."""
        # Generation 0 takes about as long as any other generation without local search.
        since = (generation - 1, 0.0) if before is None else (before.generation, before.seconds)
        measured = generation - since[0]
        # With local search, a step contains a generation with searches.
        step = max(self._period, _fitting(measured, seconds - since[1]))
        if before is None and self._period:
            step = self._period
        self.step = self._limited(step, measured)
        self._update(*since, generation, seconds)
        self._waited_at = generation, seconds

    def step_ended(self, generation: int, seconds: float) -> None:
        """Lengthen the steps if the last one was quick; shorten them only if they may be lost."""
        before, since = self._waited_at
        fitting = self._limited(_fitting(generation - before, seconds - since), generation - before)
        self.step = max(1, self._period, fitting) if self._is_careful else max(self.step, fitting)
        self._update(before, since, generation, seconds)
        self._waited_at = generation, seconds

    def _limited(self, step: int, measured: int) -> int:
        """Limit the length of a step by the number of generations measured before it."""
        return min(step, max(1, self._period, 2 * measured)) if self._is_careful else step

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
        return generation // self._period - before // self._period if self._period else 0


def _search_period(spec: RunSpec) -> int:
    """Return the number of generations from one local search to the next; 0 without any."""
    steps = [
        max(1, colony.improver.every // colony.rate) if ALGORITHMS[colony.algorithm].improves else 1
        for colony in spec.all_colonies
        if colony.improver.name != "none" or not ALGORITHMS[colony.algorithm].improves
    ]
    return min(steps, default=0)


def _searched_individuals(spec: RunSpec) -> float:
    """Return the mean number of individuals with a local search in a generation that has some.

    It is infinite unless an improver performs the searches.
    """
    searched = [
        colony.islands * colony.population * colony.rate * colony.improver.rate
        for colony in spec.all_colonies
        if colony.improver.name != "none" and ALGORITHMS[colony.algorithm].improves
    ]
    return min(searched, default=math.inf)


def _fitting(generations: int, elapsed: float) -> int:
    """Return how many generations fit into half a second, if these took `elapsed` seconds."""
    fitting = int(_STEP_SECONDS * generations / max(elapsed, 1e-9))
    # Use powers of two only, as a GPU stores a prepared graph for each number.
    return 1 << max(0, fitting.bit_length() - 1)
