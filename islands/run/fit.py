"""What fits what: algorithms encodings, and encodings and improvers a problem's solutions."""

from __future__ import annotations

from islands.algorithms import ALGORITHMS
from islands.encodings import ENCODINGS
from islands.errors import UsageError
from islands.improvers import ImproverSettings, improvers_for
from islands.problems.base import Problem
from islands.text import unknown


def fitting(problem: Problem) -> list[tuple[str, str]]:
    """Return each algorithm with each encoding that it can move and that fits the problem."""
    return [
        (algorithm, encoding)
        for algorithm, mover in ALGORITHMS.items()
        for encoding in mover.encodings
        if encoding in ENCODINGS and _stands_for(encoding, problem)
    ]


def encoding_for(algorithm: str, asked: str | None, problem: Problem) -> str:
    """Return the encoding asked for, or the algorithm's first that fits; refuse what does not."""
    if algorithm not in ALGORITHMS:
        raise UsageError(unknown("algorithm", algorithm, ALGORITHMS))
    if asked is not None and asked not in ENCODINGS:
        raise UsageError(unknown("encoding", asked, ENCODINGS))
    moved = ALGORITHMS[algorithm].encodings
    if asked is not None and asked not in moved:
        others = [other for other, mover in ALGORITHMS.items() if asked in mover.encodings]
        use = f", or use --algorithm {' or '.join(others)}" if others else ""
        raise UsageError(
            f"{algorithm} moves {' or '.join(moved)} only, but --encoding {asked} was asked for."
            f" Leave --encoding out{use}"
        )
    pairs = fitting(problem)
    fit = [encoding for name, encoding in pairs if name == algorithm and asked in (None, encoding)]
    if not fit:
        shown = ", ".join(f"{name} on {encoding}" for name, encoding in pairs) or "nothing"
        raise UsageError(
            f"{algorithm} on {asked or ' or '.join(moved)} does not fit {problem.instance}, whose"
            f" solutions are of the kind {problem.solution_kind!r}. What fits: {shown}"
        )
    return fit[0]


def require_improver(settings: ImproverSettings, problem: Problem) -> None:
    """Refuse an improver that cannot work on the solutions of a problem."""
    name, fit = settings.name, improvers_for(problem.solution_kind)
    if name in fit:
        if settings.core and name != "none" and not problem.ranks_things:
            raise UsageError(
                f"improver.core={settings.core}: there is no order of utility to have a core."
                " Choose infeasible=repair, or leave improver.core out"
            )
        return
    raise UsageError(
        f"improver {name} does not fit {problem.instance}, whose solutions are of the kind"
        f" {problem.solution_kind!r}. What fits: {', '.join(fit)}"
    )


def _stands_for(encoding: str, problem: Problem) -> bool:
    return problem.solution_kind in ENCODINGS[encoding]
