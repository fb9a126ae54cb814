"""Chains that exchange all pairs of items with sparse flows in turn.

Cost changes are stored, or computed from the neighbours of two items.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.base import Shape
from islands.algorithms.tempering.pairs import ExchangeChains, PairChains
from islands.algorithms.tempering.settings import TemperingSettings
from islands.backends.arguments import Null, Struct
from islands.backends.base import Array
from islands.backends.source import Header, Macros

if TYPE_CHECKING:
    from islands.problems.base import Problem
    from islands.problems.qap_sparse import Sparse

_PAIRS_AT_ONCE = 4
"""Pairs evaluated per step on a CPU; larger values waste work after an accepted exchange."""


def _network_of(problem: Problem) -> Sparse:
    """Return the neighbours of the items of a problem with sparse flows."""
    assert problem.swaps is not None
    assert problem.swaps.sparse is not None, "the problem fits"
    return problem.swaps.sparse


class SparseFlowChains(ExchangeChains):
    """Chains for assignment problems with sparse flows and enough items."""

    fewest: ClassVar[int]
    """Minimum number of items."""

    def __init__(self, settings: TemperingSettings, problem: Problem, shape: Shape) -> None:
        super().__init__(settings, problem, shape)
        self._sparse = _network_of(problem)

    @classmethod
    def fits(cls, problem: Problem) -> bool:
        swaps = problem.swaps if super().fits(problem) else None
        return swaps is not None and swaps.is_network and problem.size >= cls.fewest

    def macros(self) -> Macros:
        return super().macros() | self._sparse.macros()

    def tables(self, problem: Problem) -> dict[str, NDArray[Any]]:
        return super().tables(problem) | _network_of(problem).tables()


class NetworkChains(SparseFlowChains, PairChains):
    """Chains with a stored cost change per pair; on a CPU, an exchange updates only a few."""

    fewest: ClassVar[int] = 64

    def numbers(self) -> Hashable:
        return self._sparse.launch_key

    def members(self, arrays: Mapping[str, Array]) -> Struct:
        network = self._sparse.network(arrays)
        return Struct(**super().members(arrays).members, network=network)


class SparseChains(SparseFlowChains):
    """Chains that compute the cost change of each proposal.

    A proposal takes 3 to 9 times as long as with stored changes, but no memory per pair is needed:
    see docs/design/assignments.md for the measurements.
    """

    header: ClassVar[Header] = Header("tempering/chains/sparse.cuh")
    fewest: ClassVar[int] = 256
    shares_launches: ClassVar[bool] = False

    def __init__(self, settings: TemperingSettings, problem: Problem, shape: Shape) -> None:
        super().__init__(settings, problem, shape)
        self.effort = 1 / self._sparse.size  # a row of pairs

    def macros(self) -> Macros:
        return super().macros() | {"PAIRS_A_RUN": str(_PAIRS_AT_ONCE)}

    def members(self, arrays: Mapping[str, Array]) -> Struct:
        return Struct(
            alike_places=arrays.get("alike_places", Null(np.int32)),
            network=self._sparse.network(arrays),
        )
