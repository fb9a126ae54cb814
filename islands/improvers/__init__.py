"""The improvers by name, in display order."""

from __future__ import annotations

from islands.custom.parts import PartKind
from islands.improvers.base import IMPROVERS, Improver, ImproverSettings, NoImprover
from islands.improvers.orders import OrOpt, Reinsert, Swap, Tabu, TwoOpt
from islands.improvers.subsets import Exchange21, Exchange22, ExchangeSearch, Flip, SubsetTabu

_ALL: tuple[type[Improver], ...] = (
    *(NoImprover, Swap, TwoOpt, Reinsert, OrOpt),
    *(Flip, ExchangeSearch, Exchange21, Exchange22),
    *(SubsetTabu, Tabu),
)
IMPROVERS |= {each.name: each for each in _ALL}

KIND = PartKind("improver", Improver, IMPROVERS, _ALL, needs=("header", "solution_kinds"))


def improvers_for(solution_kind: str) -> dict[str, type[Improver]]:
    """Return the improvers for this kind of solution, by name."""
    known = dict.fromkeys([*_ALL, *IMPROVERS.values()])
    return {each.name: each for each in known if solution_kind in each.solution_kinds}


__all__ = ["IMPROVERS", "KIND", "Improver", "ImproverSettings", "improvers_for"]
