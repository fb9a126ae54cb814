"""Other programs that `quality` compares with its runs: on all cores, for the same time."""

from __future__ import annotations

from islands.bench.rivals.base import Answer, Rival
from islands.bench.rivals.contest import RIVALS, Contest, require_fitting, require_installed

__all__ = ["RIVALS", "Answer", "Contest", "Rival", "require_fitting", "require_installed"]
