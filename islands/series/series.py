"""The result of a series of runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from islands.errors import RunError
from islands.progress.result import Result
from islands.series.plan import Plan
from islands.series.summary import Summary

_OF_ONE = ("best", "mean", "standard_deviation", "hits")
"""Keys that are repeated at the top level if there is a single instance."""


@dataclass(frozen=True)
class Series:
    """The results of all runs, in order, and their summaries."""

    folder: Path
    instances: int
    results: Sequence[Result]
    summaries: Sequence[Summary]
    """The summaries of the instances with at least one uninterrupted run."""
    interrupted: bool
    suspended: bool
    """Whether a signal ended the series."""

    @classmethod
    def of(
        cls,
        plan: Plan,
        folder: Path,
        results: Sequence[Result],
        *,
        interrupted: bool,
        suspended: bool,
    ) -> Self:
        """Return the series with a summary of each instance."""
        whole = [each for each in results if not (each.interrupted or each.suspended)]
        summaries = [
            Summary.of(runs, maximise=job.problem.maximise)
            for job in plan.first
            if (runs := [each for each in whole if each.instance == job.problem.instance])
        ]
        return cls(folder, len(plan.first), results, summaries, interrupted, suspended)

    def require_solutions(self, hint: Callable[[str], str]) -> None:
        """Raise a `RunError` if all runs of an instance ended without a solution.

        `hint` returns the fix for a kind of problem. An interrupted series is accepted, as it may
        still find a solution.
        """
        if self.interrupted or self.suspended:
            return
        for summary in self.summaries:
            if summary.without_solution == summary.runs:
                runs = f"none of {summary.runs} runs" if summary.runs > 1 else "no run"
                words = f"{summary.instance}: {runs} found a feasible solution"
                raise RunError(". ".join(filter(None, (words, hint(summary.problem)))))

    def to_json(self) -> str:
        """Return the series as one JSON object on one line."""
        summaries = [asdict(summary) for summary in self.summaries]
        whole: dict[str, Any] = {
            "runs": [result.to_mapping() for result in self.results],
            "instances": summaries,
            "folder": str(self.folder),
            "interrupted": self.interrupted,
            "suspended": self.suspended,
        }
        if self.instances == 1:
            whole |= {name: summaries[0][name] if summaries else None for name in _OF_ONE}
        return json.dumps(whole)
