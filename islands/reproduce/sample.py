"""What runs of an instance with the same settings come to, and the tables made of such runs."""

from __future__ import annotations

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

    costs: tuple[int, ...]
    gaps: tuple[float, ...]
    """To the best known value, in per cent."""
    hits: int
    """Runs that reached the best known value."""
    evaluations: tuple[int, ...]
    generations: int
    """Of the longest run."""
    seconds: float
    """Of all together, divided by their number."""

    @classmethod
    def of(cls, problem: Problem, together: Together) -> Self:
        """Return what the runs of an instance came to."""
        ends = [run.progress for run in together.runs]
        costs = tuple(end.cost for end in ends)
        known = problem.best_known
        return cls(
            costs=costs,
            gaps=tuple(gap for cost in costs if (gap := problem.gap(cost)) is not None),
            hits=sum(known is not None and cost == known.value for cost in costs),
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


class SampleTable(Table):
    """A table of ten runs of each instance of the QAPLIB."""

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
