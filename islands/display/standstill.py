"""Messages about a plateau and about a search without a feasible solution, each once per run."""

from islands.configuration.defaults import searches
from islands.configuration.resolved import Resolved
from islands.display.heartbeat import duration
from islands.problems.base import Problem
from islands.problems.mixed import MixedKind
from islands.progress.progress import Progress
from islands.progress.result import HOW_TO_BE_FEASIBLE
from islands.text import count, option

_SECONDS, _WARN_SECONDS = 10.0, 1.0
_SHARE = 0.75
"""Minimum share of the run without a better cost. Neither an early best in a short run nor rare
improvements in a long one count as a plateau."""


class Standstill:
    """Reports, once, that a run has not improved, or has no feasible solution, for a long time."""

    def __init__(self, advice: str, remedy: str = "") -> None:
        """Take the hints for a long plateau, and for a search without a feasible solution."""
        self._advice, self._has_advised = advice, False
        self._remedy, self._has_warned = remedy, False
        self._best: Progress | None = None

    def words(self, progress: Progress) -> str:
        """Return the message if it is due, otherwise an empty string."""
        if progress.cost is None and progress.seconds >= _WARN_SECONDS and not self._has_warned:
            self._has_warned = True
            tried = count(progress.evaluations)
            return f"no feasible solution in {tried} evaluations. {self._remedy}".rstrip(". ")
        best = self._best
        if best is None or progress.cost != best.cost:
            self._best = progress
            return ""
        seconds = progress.seconds - best.seconds
        is_long = seconds >= max(_SECONDS, _SHARE * progress.seconds)
        if self._has_advised or not is_long or progress.cost is None or progress.gap == 0:
            return ""
        self._has_advised = True
        tried = count(progress.evaluations - best.evaluations)
        return f"no better cost for {tried} evaluations ({duration(seconds)}): try {self._advice}"


def remedy(problem: Problem) -> str:
    """Return the hint for a search without a feasible solution."""
    return HOW_TO_BE_FEASIBLE if problem.scale.priced else problem.words.infeasible_fix


def advice(resolved: Resolved) -> str:
    """Return the hint for a long plateau."""
    spec, problem = resolved.spec, resolved.problem
    usual = str(searches(problem)[0]["algorithm"])
    tried = [option("algorithm", usual)] if usual != spec.algorithm else []
    tried.append(f"more islands ({option('islands', 4 * spec.general.islands)})")
    may_have_state = problem.kind.name != MixedKind.name and problem.chains.proposals
    if may_have_state and not problem.chains.has_state:
        tried.append("a state, which evaluates moves incrementally (state=)")
    return ", or ".join(tried)
