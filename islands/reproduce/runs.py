"""What runs of an instance with the same settings come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, Self

from islands.problems.base import Problem
from islands.run.batch import Batch


@dataclass(frozen=True)
class Sample:
    """The runs of an instance that went on side by side."""

    costs: tuple[float, ...]
    """Of those that met a feasible solution."""
    best: float | None
    without: int
    """How many met none."""
    gaps: tuple[float, ...]
    """To the best known value, in per cent."""
    hits: int
    """Runs that reached the best known value."""
    last_gaps: tuple[float, ...]
    """Of the last generations, which may have lost the best; none where they may be infeasible."""
    best_generations: tuple[int, ...]
    """In which the best of each run was found."""
    evaluations: tuple[int, ...]
    generations: int
    """Of the longest run."""
    seconds: float
    """Of all together, divided by their number."""

    @classmethod
    def of(cls, problem: Problem, together: Batch) -> Self:
        """Return what the runs of an instance came to."""
        ends = [run.progress for run in together.runs]
        costs = tuple(end.cost for end in ends if end.cost is not None)
        gaps = _gaps(problem, costs)
        return cls(
            costs=costs,
            best=(max if problem.maximise else min)(costs, default=None),
            without=len(ends) - len(costs),
            gaps=gaps,
            hits=sum(gap <= 0 for gap in gaps),
            last_gaps=_gaps(problem, [run.present for run in together.runs]),
            best_generations=tuple(end.best_generation for end in ends if end.cost is not None),
            evaluations=tuple(end.evaluations for end in ends),
            generations=max(end.generation for end in ends),
            seconds=together.seconds_a_run,
        )

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> Self:
        """Return what was written down as JSON."""
        values: dict[str, Any] = dict(written)
        values |= {k: tuple(v) for k, v in written.items() if isinstance(v, list)}
        return cls(**values)

    @property
    def mean_gap(self) -> float | None:
        """The mean gap; None where no best value is known."""
        return fmean(self.gaps) if self.gaps else None

    @property
    def best_gap(self) -> float | None:
        """The gap of the best run."""
        return min(self.gaps, default=None)

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the gaps; None of a single run."""
        return stdev(self.gaps) if len(self.gaps) > 1 else None

    @property
    def mean_evaluations(self) -> float:
        """How often a run called the objective."""
        return fmean(self.evaluations)


def _gaps(problem: Problem, costs: Iterable[float | None]) -> tuple[float, ...]:
    gaps = (problem.gap(cost) for cost in costs if cost is not None)
    return tuple(gap for gap in gaps if gap is not None)
