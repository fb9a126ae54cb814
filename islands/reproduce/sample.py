"""What runs of an instance with the same settings come to, and the tables made of such runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, ClassVar, Self

from islands.problems.base import Problem
from islands.reproduce.table import Table
from islands.reproduce.timing import paper_seconds
from islands.run.beside import Together


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
    def of(cls, problem: Problem, together: Together) -> Self:
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


class SampleTable(Table):
    """A table of runs that go on side by side, ten of each instance."""

    runs: ClassVar[int] = 10
    beside: ClassVar[bool] = True

    def sample(self, problem: Problem, **options: Any) -> Sample:
        """Run an instance as often as was asked for."""
        return self.sample_of(problem, len(self.experiment.seeds(self.runs)), **options)

    def sample_of(self, problem: Problem, runs: int, **options: Any) -> Sample:
        """Run an instance so many times."""
        return Sample.of(problem, self.experiment.beside(problem, runs, **options))

    def seconds(self, sample: Sample) -> float:
        """Return the seconds of a run; where a try was shorter, of one as long as the paper's.

        Other runs that pass fewer generations had ended, by their evaluations.
        """
        return paper_seconds(sample, self.experiment) if self.experiment.is_try else sample.seconds
