"""Chains that exchange all pairs of items in turn, with cost changes computed from neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.base import Shape
from islands.algorithms.tempering.pairs import ExchangeChains
from islands.algorithms.tempering.settings import TemperingSettings
from islands.backends.arguments import Null, Struct
from islands.backends.base import Array
from islands.backends.source import Header, Macros

if TYPE_CHECKING:
    from islands.problems.base import Problem

_FEWEST_ITEMS = 256
"""A proposal takes 3 to 9 times as long as with stored changes, but an accepted exchange need not
update those of all pairs: see the measurements in docs/settings.md."""
_PAIRS_AT_ONCE = 4
"""Pairs evaluated per step on a CPU; larger values waste work after an accepted exchange."""


class SparseChains(ExchangeChains):
    """Chains of an assignment problem with sparse flows."""

    header: ClassVar[Header] = Header("tempering/chains/sparse.cuh")
    shares_launches: ClassVar[bool] = False

    def __init__(self, settings: TemperingSettings, problem: Problem, shape: Shape) -> None:
        super().__init__(settings, problem, shape)
        assert problem.swaps is not None
        assert problem.swaps.sparse is not None, "the problem fits"
        self._sparse = problem.swaps.sparse
        self.effort = 1 / self._sparse.size  # a row of pairs

    @classmethod
    def fits(cls, problem: Problem) -> bool:
        if not super().fits(problem) or problem.size < _FEWEST_ITEMS:
            return False
        return problem.swaps is not None and problem.swaps.is_network

    def macros(self) -> Macros:
        own = {"PAIRS_A_RUN": str(_PAIRS_AT_ONCE)}
        return super().macros() | self._sparse.macros() | own

    def tables(self, problem: Problem) -> dict[str, NDArray[Any]]:
        return super().tables(problem) | self._sparse.tables()

    def members(self, arrays: Mapping[str, Array]) -> Struct:
        return Struct(
            alike_places=arrays.get("alike_places", Null(np.int32)),
            network=self._sparse.network(arrays),
        )
