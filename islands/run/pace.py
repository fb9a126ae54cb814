"""How many generations pass from one look at the clock to the next."""

from __future__ import annotations

import math

from islands.progress.progress import Progress
from islands.spec.spec import RunSpec

_STEP_SECONDS = 0.5
"""After about so long at the latest, the host looks at the clock and for signals."""


class Pace:
    """The length of a step, which follows the speed of the run; the same on ranks that agree."""

    def __init__(self, spec: RunSpec, generation: int = 0, seconds: float = 0.0) -> None:
        """Begin at a generation, and at the time at which the device stood there."""
        self._first = first_step(spec)
        self.step = max(1, self._first)
        self._waited_at = generation, seconds
        self._plain = self._searching = math.inf
        """Seconds that a generation has taken lately, without searches and with them."""

    def may_be_slow(self, generation: int, step: int) -> bool:
        """Return whether a step from a generation on may take longer than the host is to be deaf.

        Searches may take many times as long as those before.
        """
        if searches := self._searches(generation, generation + step):
            return self._searching * searches > _STEP_SECONDS / 10
        return self._plain * step > 2 * _STEP_SECONDS

    def met(self, before: Progress | None, generation: int, seconds: float) -> None:
        """Take the speed of the epoch that has ended."""
        self.step = step_after(before, generation, seconds, self._first)
        since = (before.generation, before.seconds) if before is not None else (generation - 1, 0.0)
        self._take(*since, generation, seconds)
        self._waited_at = generation, seconds

    def waited(self, generation: int, seconds: float) -> None:
        """Take longer steps where the last one was quick."""
        before, since = self._waited_at
        self.step = max(self.step, _fitting(generation - before, seconds - since))
        self._take(before, since, generation, seconds)
        self._waited_at = generation, seconds

    def _take(self, before: int, since: float, generation: int, seconds: float) -> None:
        # Generation 0 has no searches, whatever its number says.
        if searches := self._searches(max(before, 0), generation):
            self._searching = (seconds - since) / searches
        elif generation > before:
            self._plain = (seconds - since) / (generation - before)

    def _searches(self, before: int, generation: int) -> int:
        """Return how many of the generations after one have searches."""
        return generation // self._first - before // self._first if self._first else 0


def step_after(before: Progress | None, generation: int, seconds: float, first: int) -> int:
    """Return how many generations pass in about half a second, by the speed of the last epoch.

    Where individuals are improved, the `first` step has as many as have one with improvements among
    them, and no step has fewer.
    """
    if before is None:
        # To make generation 0 takes about as long as any other without improvements.
        return first or _fitting(1, seconds)
    return max(first, _fitting(generation - before.generation, seconds - before.seconds))


def first_step(spec: RunSpec) -> int:
    """Return how many generations have one with improvements among them, or 0 where none has."""
    return 0 if spec.improver.name == "none" else spec.improver.every


def _fitting(generations: int, elapsed: float) -> int:
    """Return how many generations pass in about half a second, where so many took so long."""
    fitting = int(_STEP_SECONDS * generations / max(elapsed, 1e-9))
    # Of powers of two there are few, and a GPU keeps what it has prepared for each number.
    return 1 << max(0, fitting.bit_length() - 1)
