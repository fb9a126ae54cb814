"""The improvers by name, in the order in which they are shown."""

from __future__ import annotations

from islands.custom.kinds import Kind
from islands.improvers.base import IMPROVERS, Improver, ImproverSettings
from islands.improvers.local import Reinsert, Swap, TwoOpt
from islands.improvers.none import Nothing
from islands.improvers.subset import Exchange, Exchange21, Exchange22, Flip
from islands.improvers.subset_tabu import SubsetTabu
from islands.improvers.tabu import Tabu

_ALL: tuple[type[Improver], ...] = (
    *(Nothing, Swap, TwoOpt, Reinsert),
    *(Flip, Exchange, Exchange21, Exchange22),
    *(SubsetTabu, Tabu),
)
IMPROVERS |= {each.name: each for each in _ALL}

KIND = Kind("improver", Improver, IMPROVERS, _ALL, needs=("header", "solution_kinds"))


def improvers_for(solution_kind: str) -> dict[str, type[Improver]]:
    """Return those that can improve such solutions."""
    known = dict.fromkeys([*_ALL, *IMPROVERS.values()])
    return {each.name: each for each in known if solution_kind in each.solution_kinds}


__all__ = ["IMPROVERS", "KIND", "Improver", "ImproverSettings", "improvers_for"]
