"""The base class of improvers: local searches that run in the block that created a solution."""

from __future__ import annotations

import math
from abc import ABC
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from islands.backends.arguments import Null, Struct
from islands.backends.base import Array, Block
from islands.backends.source import Header, Macros
from islands.errors import UsageError
from islands.settings import Settings, setting

if TYPE_CHECKING:
    from islands.problems.base import Problem

IMPROVERS: dict[str, type[Improver]] = {}
"""The improvers by name; the one for orders if two share a name. `__init__.py` fills it."""
STRATEGIES = ("first", "best")
SCOPES = ("all", "position")
_MOST = 2**31 - 1  # kernels use 32-bit integers
MOST_STEPS = 50_000  # tabu searches count steps in 16 bits


@dataclass(frozen=True)
class ImproverSettings(Settings):
    """The local search of a run: its name, the individuals that it improves, and its steps."""

    name: str = setting("none", "local search that improves solutions", choices=IMPROVERS)
    rate: float = setting(1.0, "share of the individuals that are improved", low=0, high=1)
    every: int = setting(
        1, "interval between generations with improvement; 1: every generation", low=1, high=_MOST
    )
    strategy: str = setting(
        "first", "whether to make the first improving move or the best one", choices=STRATEGIES
    )
    scope: str = setting(
        "all",
        "whether to try all moves, or only those of one random position per island",
        choices=SCOPES,
    )
    steps: int = setting(
        0,
        "maximum number of moves; 0: until no move improves the solution or, for tabu, 20 per item"
        " (fewer above 237 items), or 100 for subsets",
        low=0,
        high=MOST_STEPS,
    )
    tenure_low: float = setting(
        0.9,
        "tabu: minimum number of steps for which a move is forbidden, divided by the number of"
        " items; for subsets, by the square root of the core size",
        low=0,
        high=MOST_STEPS,
    )
    tenure_high: float = setting(
        1.1, "tabu: maximum, in the same unit as tenure_low", low=0, high=MOST_STEPS
    )
    aspiration: int = setting(
        0,
        "tabu on orders: a move that was not made for this number of steps is preferred; 0: never",
        low=0,
        high=_MOST,
    )
    core: int = setting(
        0,
        "only for subsets with infeasible=repair: number of items with medium utility that may"
        " change; 0: all items",
        low=0,
        high=_MOST,
    )

    def check(self) -> None:
        if self.tenure_low > self.tenure_high:
            raise UsageError(
                f"improver.tenure_low={self.tenure_low:g}: must be at most"
                f" improver.tenure_high={self.tenure_high:g}. Lower tenure_low, or raise"
                " tenure_high"
            )


_DEFAULTS = ImproverSettings()

NO_NEIGHBOURS = Struct(
    degree=np.int32(0),
    levels=np.int32(0),
    cities=Null(np.int32),
    axis=Null(np.int32),
    split=Null(np.float64),
    twins=Null(np.int32),
    table=Null(np.int32),
)
"""`Neighbours` of kernels/tours, for a run without them."""


class Improver(ABC):
    """An improver for solutions of one size."""

    name: ClassVar[str]
    header: ClassVar[Header]
    """The kernel header."""
    solution_kinds: ClassVar[tuple[str, ...]]
    """The kinds of solutions that can be improved."""
    moves: ClassVar[tuple[str, ...]] = ()
    """The moves for which the problem's header must provide `delta`."""
    uses_neighbours: ClassVar[bool] = False
    """Whether it needs the neighbours of each item; only problems with distances have them."""
    adds_costs: ClassVar[bool] = False
    """Whether cost differences are summed, and must therefore be integers."""

    def __init__(self, settings: ImproverSettings = _DEFAULTS, size: int = 0) -> None:
        """Reject settings that do not fit solutions of `size` items.

        A script may create an instance without arguments to represent the class.
        """
        self.settings, self.size = settings, size

    def room(self) -> int:
        """Return the scratch memory, in bytes, in addition to that declared by the header."""
        return 0

    def items(self) -> int:
        """Return the number of work items that are distributed over the threads of a block."""
        return self.size

    def block(self, problem: Problem) -> Block | None:
        """Return the block size that kernels need on a GPU, and the maximum of resident blocks.

        Return None if any block size is suitable.
        """
        return None

    def defines(self) -> Macros:
        """Return the macros for compiling the kernel."""
        return {}

    def steps(self) -> int:
        """Return the maximum number of moves."""
        return self.settings.steps

    def work(self, problem: Problem) -> float:
        """Return the approximate number of memory reads to improve a random solution; 0: unknown.

        It determines the default population of a run with this improver.
        """
        return 0.0

    def most_calls(self) -> float:
        """Return an upper bound on the evaluations per search; infinite if unknown."""
        return math.inf

    def tenures(self) -> tuple[int, int]:
        """Return the minimum and maximum number of steps for which a move is tabu."""
        low, high = self.settings.tenure_low, self.settings.tenure_high
        return round(low * self.size), round(high * self.size)

    def plan(self, halt: Array | None = None, near: Struct | None = None) -> Struct:
        """Return `improver::Plan` of kernels/improvers/base.cuh.

        `halt` has two words: whether to stop, and whether a block has stopped.
        """
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
            halt=Null(np.int32) if halt is None else halt,
            near=near if near is not None else NO_NEIGHBOURS,
        )


class NoImprover(Improver):
    """Leaves individuals unchanged."""

    name: ClassVar[str] = "none"
    header: ClassVar[Header] = Header("improvers/none.cuh")
    solution_kinds: ClassVar[tuple[str, ...]] = ("order", "subset", "vector", "keys", "choices")

    def most_calls(self) -> float:
        return 0
