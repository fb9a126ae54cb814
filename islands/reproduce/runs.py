"""Statistics of the runs of an instance with equal settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, Self

from islands.problems.base import Problem
from islands.run.concurrent import ConcurrentRuns


@dataclass(frozen=True)
class Sample:
    """The results of a batch of runs of one instance."""

    costs: tuple[float, ...]
    """Costs of the runs that found a feasible solution."""
    best: float | None
    without: int
    """Number of runs without a feasible solution."""
    gaps: tuple[float, ...]
    """Gaps to the best known value, in per cent."""
    hits: int
    """Runs that reached the best known value."""
    last_gaps: tuple[float, ...]
    """Gaps of the last generations, which may have lost the best; empty if infeasible."""
    best_generations: tuple[int, ...]
    """The generation in which each run found its best."""
    evaluations: tuple[int, ...]
    generations: int
    """Generations of the longest run."""
    seconds: float
    """Seconds of the batch, divided by the number of runs."""

    @classmethod
    def of(cls, problem: Problem, batch: ConcurrentRuns) -> Self:
        """Return the statistics of a batch."""
        ends = [run.progress for run in batch.runs]
        costs = tuple(end.cost for end in ends if end.cost is not None)
        gaps = _gaps(problem, costs)
        return cls(
            costs=costs,
            best=(max if problem.maximise else min)(costs, default=None),
            without=len(ends) - len(costs),
            gaps=gaps,
            hits=sum(gap <= 0 for gap in gaps),
            last_gaps=_gaps(problem, [run.present for run in batch.runs]),
            best_generations=tuple(end.best_generation for end in ends if end.cost is not None),
            evaluations=tuple(end.evaluations for end in ends),
            generations=max(end.generation for end in ends),
            seconds=batch.seconds_a_run,
        )

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> Self:
        """Return the sample from its JSON form."""
        values: dict[str, Any] = dict(written)
        values |= {k: tuple(v) for k, v in written.items() if isinstance(v, list)}
        return cls(**values)

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

    def cells(self, seconds: float) -> dict[str, float | None]:
        """Return the cells of the columns that many tables have; the seconds are those of a run."""
        return {
            "best": self.best,
            "best_gap": self.best_gap,
            "mean_gap": self.mean_gap,
            "deviation": self.deviation,
            "hits": self.hits,
            "without": self.without,
            "seconds": seconds,
            "generations": self.generations,
            "runs": len(self.costs) + self.without,
        }

    @property
    def mean_evaluations(self) -> float:
        """The mean number of calls of the objective per run."""
        return fmean(self.evaluations)

    @property
    def mean_rate(self) -> float:
        """The mean number of calls of the objective per second."""
        return self.mean_evaluations / self.seconds


def _gaps(problem: Problem, costs: Iterable[float | None]) -> tuple[float, ...]:
    gaps = (problem.gap(cost) for cost in costs if cost is not None)
    return tuple(gap for gap in gaps if gap is not None)
