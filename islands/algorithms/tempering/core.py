"""Chains that exchange items in the core of a knapsack."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.base import Shape
from islands.algorithms.tempering.chains import Range
from islands.algorithms.tempering.ends import ClimbChains
from islands.algorithms.tempering.settings import TemperingSettings
from islands.backends.arguments import Struct
from islands.backends.base import Array, Block
from islands.backends.source import Header, Macros
from islands.backends.state import Field

if TYPE_CHECKING:
    from islands.problems.base import Problem

_TABLES = (
    *("packed", "gains", "rows", "shifts", "core", "rounded", "levels"),
    *("sizes", "prices", "slops"),
)
"""The tables of a core, in the order of the plan."""


class CoreChains(ClimbChains):
    """Chains for knapsacks."""

    header: ClassVar[Header] = Header("tempering/chains/core.cuh")
    rungs: ClassVar[int] = 4
    cooling: ClassVar[Range] = (0.001, 0.05)
    shares: Range = (5e-5, 3e-3)
    effort: float = 300
    block: ClassVar[Block | None] = Block(32, 16)
    """A warp evaluates the 40 to 80 free items of a core; more threads would idle. On one H100, 16
    warps per multiprocessor made 1.0e11 to 1.2e11 exchanges per second; 20, which run short of
    registers, 0.9e11 to 1.1e11."""

    def __init__(self, settings: TemperingSettings, problem: Problem, shape: Shape) -> None:
        super().__init__(settings, problem, shape)
        assert problem.core is not None, "the problem fits"
        self._core = problem.core

    @classmethod
    def fits(cls, problem: Problem) -> bool:
        return problem.core is not None

    def macros(self) -> Macros:
        return super().macros() | {"TEMPERING_PAIRS": str(self._core.pairs)}

    def items(self, problem: Problem) -> int:
        return 32  # one proposal per thread

    def fields(self) -> dict[str, Field]:
        return {"variant": Field((self.ladders,), np.int64), **super().fields()}

    def tables(self, problem: Problem) -> dict[str, NDArray[Any]]:
        assert problem.core is not None, "the problem fits"
        # Not self._core: runs of other instances may share the launches.
        return problem.core.tables(self.shape.pitch)

    def members(self, arrays: Mapping[str, Array]) -> Struct:
        return Struct(
            **{name: arrays[name] for name in _TABLES},
            variants=np.int32(len(self._core.variants)),
            largest=np.int32(self._core.largest),
            places=np.int32(self._core.places),
            scale=arrays["scale"],
            variant=arrays["variant"],
        )

    def numbers(self) -> Hashable:
        return self._core.launch_key
