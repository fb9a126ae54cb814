"""The improvers by name, in the order in which they are shown."""

from __future__ import annotations

from islands.improvers.base import Improver, ImproverSettings
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
IMPROVERS: dict[str, type[Improver]] = {each.name: each for each in _ALL}
"""Of a name that stands for several, the one for orders."""


def improvers_for(solution_kind: str) -> dict[str, type[Improver]]:
    """Return those that can improve such solutions."""
    return {each.name: each for each in _ALL if solution_kind in each.solution_kinds}


__all__ = ["IMPROVERS", "Improver", "ImproverSettings", "improvers_for"]
