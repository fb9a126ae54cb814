"""The progress of a run at the end of an epoch, and the outcome of its loop."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from islands.archipelago.measure import IslandMeasure
from islands.migration import Arrivals
from islands.problems.scale import reaches

INTERRUPTED = "interrupted by a signal"
"""The stopping reason of a run that SIGINT ended."""


@dataclass(frozen=True)
class Progress:
    """The progress of a run at the end of an epoch; costs have the sign of the objective.

    Until a feasible solution is found, there is no cost and no island.

    >>> seen = []
    >>> _ = islands.solve("demo/tsp", generations=2, callback=seen.append)
    >>> seen[-1].generation, seen[-1].cost
    (2, 8637)
    """

    generation: int
    evaluations: int
    seconds: float
    cost: float | None
    island: int | None
    """The island that found the best solution."""
    best_generation: int
    """The generation in which the best cost of all islands was reached; 0 without a solution."""
    mean: float
    gap: float | None = None
    best_known: float | None = None
    maximise: bool = False
    colony: int | None = None
    """The colony of `island`; None for a run without colonies."""
    has_converged: bool = False
    """Whether the population of each island has converged, at least once."""
    tolerance: float = 0.0
    """The relative difference up to which two costs count as equal."""
    lower_bound: float | None = None
    """The proven bound on the cost of all solutions, if the problem has one."""

    def reached(self, value: float) -> bool:
        """Return whether the best cost is at least as good as `value`."""
        return reaches(self.cost, value, maximise=self.maximise, tolerance=self.tolerance)

    @property
    def has_reached_best_known(self) -> bool:
        """Whether the best cost is at least as good as the best known one, if there is one."""
        return self.best_known is not None and self.reached(self.best_known)

    @property
    def has_reached_lower_bound(self) -> bool:
        """Whether the best cost is equal to the lower bound of the problem, if there is one."""
        return self.lower_bound is not None and self.reached(self.lower_bound)

    def is_within(self, percent: float) -> bool:
        """Return whether the gap is known, and at most this many per cent."""
        return self.gap is not None and self.gap <= percent


Callback = Callable[[Progress], object]
"""A user's function, called at the end of each epoch; the run ends if it returns True."""


@dataclass(frozen=True)
class Epoch:
    """The data of one rank at the end of an epoch."""

    measures: Sequence[IslandMeasure]
    arrivals: Arrivals | None
    progress: Progress


@dataclass(frozen=True)
class Moment:
    """The state from which the loop resumes, in addition to that of the islands."""

    generation: int
    seconds: float
    before: Progress | None
    """The progress at the end of the previous epoch."""


@dataclass(frozen=True)
class Outcome:
    """How the loop of a run ended."""

    progress: Progress
    reason: str
    moment: Moment
    interrupted: bool = False
    suspended: bool = False
    """Whether the run is to be resumed later."""
    is_partial: bool = False
    """Whether generation 0 is incomplete; there is then nothing to resume from."""
    abandoned_seconds: float = 0.0
    """Seconds spent on abandoned generations."""
    phases: Mapping[str, float] = field(default_factory=dict)
    """The seconds that this rank has spent on each phase since the last start."""


def is_better(cost: float | None, other: float | None, *, maximise: bool) -> bool:
    """Return whether a cost is better than another one; None is worse than any cost."""
    if cost is None or other is None:
        return cost is not None
    return cost > other if maximise else cost < other
