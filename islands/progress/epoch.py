"""What is known at the end of an epoch, by each rank and by all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from islands.archipelago.measure import IslandMeasure
from islands.migration import Arrivals
from islands.progress.progress import Progress


@dataclass(frozen=True)
class Epoch:
    """What one rank knows when an epoch ends."""

    measures: Sequence[IslandMeasure]
    arrivals: Arrivals | None
    progress: Progress


@dataclass(frozen=True)
class Moment:
    """Where a loop stands beside its islands: all that it needs to go on from there."""

    generation: int
    seconds: float
    before: Progress | None
    """The progress at the end of the epoch before."""
