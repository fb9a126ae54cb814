"""The statistics of a batch of runs of one instance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from islands.engine.repeats import Repeat, seconds_of
from islands.problems.base import Problem


@dataclass(frozen=True)
class Sample:
    """The results of a batch of runs of one instance, as the ledger has them."""

    costs: Sequence[float]
    """Costs of the runs that found a feasible solution."""
    best: float | None
    without: int
    """Number of runs without a feasible solution."""
    gaps: Sequence[float]
    """Gaps to the best known value, in per cent."""
    hits: int
    """Runs that reached the best known value."""
    last_gaps: Sequence[float]
    """Gaps of the last generations, which may have lost the best; empty if infeasible."""
    best_generations: Sequence[int]
    """The generation in which each run found its best."""
    evaluations: Sequence[int]
    generations: int
    """Generations of the longest run."""
    seconds: float
    """Seconds of the batch, divided by the number of runs."""

    @classmethod
    def of(cls, problem: Problem, batch: Sequence[Repeat]) -> Sample:
        """Return the statistics of a batch."""
        ends = [each.result for each in batch]
        costs = [end.cost for end in ends if end.cost is not None]
        gaps = _gaps(problem, costs)
        return cls(
            costs=costs,
            best=(max if problem.maximise else min)(costs, default=None),
            without=len(ends) - len(costs),
            gaps=gaps,
            hits=sum(gap <= 0 for gap in gaps),
            last_gaps=_gaps(problem, [each.present for each in batch]),
            best_generations=[end.best_generation for end in ends if end.cost is not None],
            evaluations=[end.evaluations for end in ends],
            generations=max(end.generations for end in ends),
            seconds=seconds_of(batch) / len(batch),
        )

    @property
    def mean_gap(self) -> float | None:
        """The mean gap; None if no best value is known."""
        return fmean(self.gaps) if self.gaps else None

    @property
    def best_gap(self) -> float | None:
        """The gap of the best run."""
        return min(self.gaps, default=None)

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the gaps; None for a single run."""
        return stdev(self.gaps) if len(self.gaps) > 1 else None

    @property
    def runs(self) -> int:
        """The number of runs."""
        return len(self.costs) + self.without

    @property
    def mean_evaluations(self) -> float:
        """The mean number of calls of the objective per run."""
        return fmean(self.evaluations)

    def cells(self, seconds: float) -> dict[str, float | None]:
        """Return the cells of the columns that many tables have; the seconds are those of a run."""
        names = ("best", "best_gap", "mean_gap", "deviation", "hits", "without")
        cells = {name: getattr(self, name) for name in names}
        return {**cells, "seconds": seconds, "generations": self.generations, "runs": self.runs}


def _gaps(problem: Problem, costs: Iterable[float | None]) -> list[float]:
    gaps = (problem.gap(cost) for cost in costs if cost is not None)
    return [gap for gap in gaps if gap is not None]
