"""The improvers by name, in display order.

An improver is a local search, run by the block that made a solution. The kernels are in
`kernels/improvers`; the files here state which problems and encodings a search supports, its
settings, and how much work and memory it needs.

- `Improver`: base class; `work` estimates the numbers that a search reads.
- `ImproverSettings`: the settings that all improvers share.
- moves: the kinds of moves of a problem, whose cost changes its kernel header computes.

May import `problems`, `encodings`, `custom`, `backends` and the layers below them.
"""

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
