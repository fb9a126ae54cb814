"""What an improver is: a search near a solution, done by the block that has made it."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from islands.backends.arguments import Struct
from islands.backends.base import Array
from islands.backends.header import Header
from islands.backends.source import Macros
from islands.errors import UsageError
from islands.settings import Settings, setting

if TYPE_CHECKING:
    from islands.problems.base import Problem

IMPROVERS: dict[str, type[Improver]] = {}
"""By name; of a name that stands for several, the one for orders. Filled beside this module."""
STRATEGIES = ("first", "best")
SCOPES = ("all", "position")
_MOST = 2**31 - 1  # kernels take whole numbers of 32 bits
MOST_STEPS = 50_000  # tabu searches count them in sixteen bits


@dataclass(frozen=True)
class ImproverSettings(Settings):
    """Which improver works, on whom and how long."""

    name: str = setting("none", "the local search on solutions", choices=IMPROVERS)
    rate: float = setting(1.0, "share of the individuals that are improved", low=0, high=1)
    every: int = setting(1, "generations from one with improvements to the next", low=1, high=_MOST)
    strategy: str = setting(
        "first", "take the first move that improves, or the best", choices=STRATEGIES
    )
    scope: str = setting(
        "all", "try all moves, or those of one position that all share", choices=SCOPES
    )
    steps: int = setting(
        0,
        "moves at most; 0: until none improves, or for tabu 20 an item, fewer beyond 237, and 100"
        " for subsets",
        low=0,
        high=MOST_STEPS,
    )
    tenure_low: float = setting(
        0.9,
        "steps that a move is tabu, an item, or a root of the core for subsets, at least",
        low=0,
        high=MOST_STEPS,
    )
    tenure_high: float = setting(1.1, "the same at most", low=0, high=MOST_STEPS)
    aspiration: int = setting(
        0, "steps after which a move that was not made is preferred; 0: never", low=0, high=_MOST
    )
    core: int = setting(
        0,
        "of subsets: items that may change, those around the border of the order of utility;"
        " 0: all",
        low=0,
        high=_MOST,
    )

    def check(self) -> None:
        if self.tenure_low > self.tenure_high:
            raise UsageError(
                f"improver.tenure_low={self.tenure_low:g}: must be at most"
                f" improver.tenure_high={self.tenure_high:g}"
            )


_USUAL = ImproverSettings()


class Improver(ABC):
    """One improver for solutions of one size."""

    name: ClassVar[str]
    header: ClassVar[Header]
    """Its kernel header."""
    solution_kinds: ClassVar[tuple[str, ...]]
    """The kinds of solutions that it can improve."""
    moves: ClassVar[tuple[str, ...]] = ()
    """The moves whose `delta` it asks of a problem's header."""

    def __init__(self, settings: ImproverSettings = _USUAL, size: int = 0) -> None:
        """Refuse settings that do not fit solutions of so many items.

        A script may make one of nothing, which stands for its class.
        """
        self.settings, self.size = settings, size

    def room(self) -> int:
        """Return the bytes of scratch memory it takes besides what its header declares."""
        return 0

    def items(self) -> int:
        """Return the pieces of work that a block shares."""
        return self.size

    def defines(self) -> Macros:
        """Return the macros that its kernel is compiled with."""
        return {}

    def steps(self) -> int:
        """Return how many moves it makes at most."""
        return self.settings.steps

    def work(self, problem: Problem) -> float:
        """Return about how many numbers it looks up from a solution drawn at random on.

        By it, a run that names no more than an improver gets a population. 0: it is not known.
        """
        return 0.0

    def tenures(self) -> tuple[int, int]:
        """Return how many steps a move is tabu, at least and at most."""
        low, high = self.settings.tenure_low, self.settings.tenure_high
        return round(low * self.size), round(high * self.size)

    def plan(self, halt: Array | None = None) -> Struct:
        """Return `improver::Plan` of kernels/improvers/base.cuh; `halt` are its two words."""
        settings = self.settings
        low, high = self.tenures()
        return Struct(
            rate=np.uint32(min(round(settings.rate * 2.0**32), 2**32 - 1)),
            every=np.int32(settings.every),
            steps=np.int32(self.steps()),
            best=np.int32(settings.strategy == "best"),
            one_position=np.int32(settings.scope == "position"),
            tenure_low=np.int32(low),
            tenure_high=np.int32(high),
            aspiration=np.int32(settings.aspiration),
            core=np.int32(settings.core),
            halt=halt,
        )
