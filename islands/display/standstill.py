"""Messages that a search stands still or finds nothing feasible: each is printed once a run."""

from __future__ import annotations

from islands.configuration.defaults import searches
from islands.configuration.resolved import Resolved
from islands.display.heartbeat import duration
from islands.problems.base import Problem
from islands.progress.progress import Progress
from islands.progress.result import HOW_TO_BE_FEASIBLE
from islands.text import count, option

_SECONDS, _LOST_SECONDS = 10.0, 1.0
_SHARE = 0.75
"""The part of the run that must have been without a better cost: an early best is no standstill if
the run has just begun, nor a late one if improvements have become rare."""


class Standstill:
    """Says once that no better cost has been found for long, or no feasible solution at first."""

    def __init__(self, advice: str, cure: str = "") -> None:
        """Take what to try if a search stands still, and if nothing feasible is found."""
        self._advice, self._is_said = advice, False
        self._cure, self._is_lost = cure, False
        self._best: Progress | None = None

    def words(self, progress: Progress) -> str:
        """Return the message if it is due, otherwise an empty string."""
        if progress.cost is None and progress.seconds >= _LOST_SECONDS and not self._is_lost:
            self._is_lost = True
            tried = count(progress.evaluations)
            return f"no feasible solution in {tried} evaluations. {self._cure}".rstrip(". ")
        best = self._best
        if best is None or progress.cost != best.cost:
            self._best = progress
            return ""
        seconds = progress.seconds - best.seconds
        is_long = seconds >= max(_SECONDS, _SHARE * progress.seconds)
        if self._is_said or not is_long or progress.cost is None or progress.gap == 0:
            return ""
        self._is_said = True
        tried = count(progress.evaluations - best.evaluations)
        return f"no better cost for {tried} evaluations ({duration(seconds)}): try {self._advice}"


def cure(problem: Problem) -> str:
    """Return what to try if no feasible solution is found."""
    return HOW_TO_BE_FEASIBLE if problem.scale.priced else problem.words.infeasible_fix


def advice(resolved: Resolved) -> str:
    """Return what to try if a search stands still."""
    spec, problem = resolved.spec, resolved.problem
    usual = str(searches(problem)[0]["algorithm"])
    tried = [option("algorithm", usual)] if usual != spec.algorithm else []
    tried.append(f"more islands ({option('islands', 4 * spec.general.islands)})")
    if problem.chains.proposals and not problem.chains.has_state:
        tried.append("a state, which judges moves in a few steps (state=)")
    return ", or ".join(tried)
