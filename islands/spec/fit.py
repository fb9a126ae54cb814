"""What fits what: algorithms encodings, and encodings and improvers a problem's solutions."""

from __future__ import annotations

from islands.algorithms import ALGORITHMS
from islands.encodings import ENCODINGS, moved_as
from islands.errors import UsageError
from islands.improvers import ImproverSettings, improvers_for
from islands.problems.base import Problem
from islands.text import option, unknown


def fitting(problem: Problem) -> list[tuple[str, str]]:
    """Return each algorithm with each encoding that it can move and that fits the problem."""
    return [
        (algorithm, encoding)
        for algorithm, mover in ALGORITHMS.items()
        for moved in mover.encodings
        for encoding in ENCODINGS
        if moved in (encoding, moved_as(encoding)) and _stands_for(encoding, problem)
    ]


def encoding_for(algorithm: str, asked: str | None, problem: Problem) -> str:
    """Return the encoding asked for, or the algorithm's first that fits; refuse what does not."""
    if algorithm not in ALGORITHMS:
        raise UsageError(unknown("algorithm", algorithm, ALGORITHMS))
    if asked is not None and asked not in ENCODINGS:
        raise UsageError(unknown("encoding", asked, ENCODINGS))
    moved, pairs = ALGORITHMS[algorithm].encodings, fitting(problem)
    own = [encoding for name, encoding in pairs if name == algorithm]
    fit = [encoding for encoding in own if asked in (None, encoding)]
    if fit:
        return fit[0]
    others = [name for name, encoding in pairs if encoding == asked]
    if others:
        raise UsageError(
            f"{algorithm} moves {' or '.join(moved)} only, but {option('encoding', asked)} was"
            f" asked for. Leave {option('encoding')} out, or use {option('algorithm', others)}"
        )
    kind = f"{problem.instance}, whose solutions are of the kind {problem.solution_kind!r}"
    if own:
        raise UsageError(
            f"encoding {asked} does not fit {kind}. Leave {option('encoding')} out, or choose"
            f" {option('encoding', own)}"
        )
    shown = ", ".join(f"{name} on {encoding}" for name, encoding in pairs) or "nothing"
    raise UsageError(
        f"{algorithm} on {asked or ' or '.join(moved)} does not fit {kind}. What fits: {shown}"
    )


def require_improver(settings: ImproverSettings, problem: Problem) -> None:
    """Refuse an improver that cannot work on the solutions of a problem."""
    name, of_kind = settings.name, improvers_for(problem.solution_kind)
    lacking = {
        each: [move for move in improver.moves if move not in problem.moves]
        for each, improver in of_kind.items()
    }
    fit = [each for each, moves in lacking.items() if not moves]
    if name in fit:
        if settings.core and name != "none" and not problem.ranks_items:
            raise UsageError(
                f"improver.core={settings.core}: there is no order of utility to have a core."
                " Choose infeasible=repair, or leave improver.core out"
            )
        return
    if name in lacking:
        missing, own = " and ".join(lacking[name]), type(problem).__name__
        raise UsageError(
            f"improver {name} asks for the delta of the move {missing}, which {problem.name} does"
            f" not give. Write it into its header and name it in {own}.moves, or choose an improver"
            f" that fits: {', '.join(fit)}"
        )
    raise UsageError(
        f"improver {name} does not fit {problem.instance}, whose solutions are of the kind"
        f" {problem.solution_kind!r}. What fits: {', '.join(fit)}"
    )


def _stands_for(encoding: str, problem: Problem) -> bool:
    return problem.solution_kind in ENCODINGS[encoding]
