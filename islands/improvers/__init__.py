"""The improvers by name, in display order.

An improver is a local search that runs in the block that created a solution. The kernels are in
`kernels/improvers`; these files define the supported problems and encodings, the settings, and the
work and memory that a search needs.

- `Improver`: base class; `work` estimates the memory reads of a search.
- `ImproverSettings`: the settings that all improvers share.
- moves: the kinds of moves for which the kernel header of a problem computes cost changes.

May import `problems`, `encodings`, `custom`, `backends` and the layers below them.
"""

from islands.custom.parts import PartKind
from islands.improvers.base import IMPROVERS, Improver, ImproverSettings, NoImprover
from islands.improvers.orders import OrOpt, Reinsert, Swap, Tabu, TwoOpt
from islands.improvers.subsets import Exchange21, Exchange22, ExchangeSearch, Flip, SubsetTabu

_ALL: tuple[type[Improver], ...] = (
    NoImprover,
    Swap,
    TwoOpt,
    Reinsert,
    OrOpt,
    Flip,
    ExchangeSearch,
    Exchange21,
    Exchange22,
    SubsetTabu,
    Tabu,
)
IMPROVERS |= {improver.name: improver for improver in _ALL}

KIND = PartKind("improver", Improver, IMPROVERS, _ALL, needs=("header", "solution_kinds"))


def improvers_for(solution_kind: str) -> dict[str, type[Improver]]:
    """Return the improvers for a solution kind, by name."""
    known = dict.fromkeys([*_ALL, *IMPROVERS.values()])
    return {
        improver.name: improver for improver in known if solution_kind in improver.solution_kinds
    }


__all__ = ["IMPROVERS", "KIND", "Improver", "ImproverSettings", "improvers_for"]
