"""The improvers by name, in the order in which they are shown."""

from __future__ import annotations

from islands.improvers.base import Improver, ImproverSettings
from islands.improvers.local import Reinsert, Swap, TwoOpt
from islands.improvers.none import Nothing
from islands.improvers.tabu import Tabu

IMPROVERS: dict[str, type[Improver]] = {
    "none": Nothing,
    "swap": Swap,
    "two_opt": TwoOpt,
    "reinsert": Reinsert,
    "tabu": Tabu,
}

__all__ = ["IMPROVERS", "Improver", "ImproverSettings"]
