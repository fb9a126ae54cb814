"""The tables that are made of runs which go on side by side."""

from __future__ import annotations

from typing import Any, ClassVar

from islands.problems.base import Problem
from islands.reproduce.runs import Sample
from islands.reproduce.table import Table
from islands.reproduce.timing import paper_seconds


class SampleTable(Table):
    """A table of runs that go on side by side, ten of each instance."""

    runs: ClassVar[int] = 10
    beside: ClassVar[bool] = True

    def sample(self, problem: Problem, **options: Any) -> Sample:
        """Run an instance as often as was asked for."""
        return self.sample_of(problem, len(self.experiment.seeds(self.runs)), **options)

    def sample_of(self, problem: Problem, runs: int, **options: Any) -> Sample:
        """Run an instance so many times."""
        return self.experiment.sample(problem, runs, **options)

    def seconds(self, sample: Sample) -> float:
        """Return the seconds of a run; where a try was shorter, of one as long as the paper's.

        Other runs that pass fewer generations had ended, by their evaluations.
        """
        return paper_seconds(sample, self.experiment) if self.experiment.is_try else sample.seconds
