"""What a series of runs ends with."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from islands.errors import RunError
from islands.progress.result import Result
from islands.series.plan import Plan
from islands.series.standing import Standing

_OF_ONE = ("best", "mean", "standard_deviation", "hits")
"""What is said of a single instance at the top as well."""


@dataclass(frozen=True)
class Series:
    """The results of all runs, in order, and what they come to."""

    folder: Path
    instances: int
    results: Sequence[Result]
    standings: Sequence[Standing]
    """Of the instances that have runs which nothing cut short."""
    interrupted: bool
    suspended: bool
    """Whether signals ended the series, as they do a run."""

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
        """Return what the runs come to, each instance by itself."""
        whole = [each for each in results if not (each.interrupted or each.suspended)]
        standings = [
            Standing.of(runs, maximise=job.problem.maximise)
            for job in plan.first
            if (runs := [each for each in whole if each.instance == job.problem.instance])
        ]
        return cls(folder, len(plan.first), results, standings, interrupted, suspended)

    def require_solutions(self, hint: Callable[[str], str]) -> None:
        """Raise a `RunError` where all runs of an instance have ended without a solution.

        What is to be chosen then is said by `hint` of the kind of problem. A series that was cut
        short may find one yet.
        """
        if self.interrupted or self.suspended:
            return
        for standing in self.standings:
            if standing.unmet == standing.runs:
                runs = f"none of {standing.runs} runs" if standing.runs > 1 else "no run"
                words = f"{standing.instance}: {runs} met a feasible solution"
                raise RunError(". ".join(filter(None, (words, hint(standing.problem)))))

    def to_json(self) -> str:
        """Return the series as one JSON object on one line."""
        standings = [asdict(standing) for standing in self.standings]
        whole: dict[str, Any] = {
            "runs": [result.to_mapping() for result in self.results],
            "instances": standings,
            "folder": str(self.folder),
            "interrupted": self.interrupted,
            "suspended": self.suspended,
        }
        if self.instances == 1:
            whole |= {name: standings[0][name] if standings else None for name in _OF_ONE}
        return json.dumps(whole)
