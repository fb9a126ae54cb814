"""Chains that exchange all pairs of items in turn, with a stored cost change per pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.base import Shape
from islands.algorithms.tempering.chains import Range
from islands.algorithms.tempering.ends import EnergyChains
from islands.algorithms.tempering.settings import TemperingSettings
from islands.backends.arguments import Null, Struct
from islands.backends.base import Array
from islands.backends.source import Header, Macros
from islands.backends.state import Field

if TYPE_CHECKING:
    from islands.problems.base import Problem

_EXCESS = 0.2, 0.75
"""Excess that determines the ends of a ladder. On sko100a, tho150 and tai60b, replicas between
these ends neither freeze nor lose all structure."""
_EXCESS_ROUGH = 0.405, 0.485
"""The same for unstructured instances; both ends are near the freezing point of tai100a."""
_EFFORT, _EFFORT_ROUGH = 0.35, 0.6
"""Number of sweeps that an accepted exchange counts as. With the second value, all replicas take
equally long on an H100, but hot replicas propose less, which delays good solutions of structured
instances."""
_KEPT_FROM, _KEPT_TO = 300, 2048
"""Range of sizes for which deltas are kept between generations. For fewer items, recomputing them
is cheap; for more, they need too much memory."""
_MOST_KEPT = 4 << 30  # bytes of the deltas of all replicas on a device


class ExchangeChains(EnergyChains):
    """Chains for assignment problems."""

    cooling: ClassVar[Range] = (0.001, 0.4)
    few_threads: ClassVar[bool] = True

    def __init__(self, settings: TemperingSettings, problem: Problem, shape: Shape) -> None:
        super().__init__(settings, problem, shape)
        assert problem.swaps is not None, "the problem fits"
        is_rough = problem.swaps.is_unstructured
        self.excess = _EXCESS_ROUGH if is_rough else _EXCESS
        self.effort = _EFFORT_ROUGH if is_rough else _EFFORT

    @classmethod
    def fits(cls, problem: Problem) -> bool:
        return problem.swaps is not None and problem.swaps.choice is None

    def items(self, problem: Problem) -> int:
        return problem.evaluation.items

    def tables(self, problem: Problem) -> dict[str, NDArray[Any]]:
        assert problem.swaps is not None, "the problem fits"
        return problem.swaps.tables()


class PairChains(ExchangeChains):
    """Chains that store the cost change of each pair."""

    header: ClassVar[Header] = Header("tempering/chains/pairs.cuh")

    def __init__(self, settings: TemperingSettings, problem: Problem, shape: Shape) -> None:
        super().__init__(settings, problem, shape)
        bytes_kept = shape.individuals * _bytes_of_deltas(shape.pitch)
        is_worth_it = _KEPT_FROM <= shape.pitch <= _KEPT_TO
        self._keeps = is_worth_it and bytes_kept <= _MOST_KEPT

    def macros(self) -> Macros:
        return super().macros() | {"TEMPERING_KEEPS": str(int(self._keeps))}

    def fields(self) -> dict[str, Field]:
        if not self._keeps:
            return {}
        size, bytes_of_deltas = self.shape.population, _bytes_of_deltas(self.shape.pitch)
        return {
            "deltas": Field((size, bytes_of_deltas), np.uint8, kind="scratch"),
            "deltas_of": Field((size,), np.int64, kind="scratch"),
        }

    def members(self, arrays: Mapping[str, Array]) -> Struct:
        deltas = arrays.get("deltas")
        return Struct(
            alike_places=arrays.get("alike_places", Null(np.int32)),
            deltas=Null(np.uint8) if deltas is None else deltas,
            deltas_bytes=np.int64(0 if deltas is None else deltas.shape[-1]),
            deltas_of=arrays.get("deltas_of", Null(np.int64)),
        )


def _bytes_of_deltas(items: int) -> int:
    """Return the bytes of one entry per pair, in rows padded as in kernels/core/triangle.cuh."""
    return 8 * (items * (items - 1) // 2 + 32 * items)
