"""Chains that flip each item of a sparse quadratic model in turn."""

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
from islands.backends.base import Array
from islands.backends.source import Header, Macros
from islands.backends.state import Field

if TYPE_CHECKING:
    from islands.problems.base import Problem
    from islands.problems.flips import Flips

_TABLES = ("place", "ends", "first", "other", "both", "single")
"""The tables of flips, in the order of the plan."""

_SHARES = 1e-4, 0.06
"""Accepted uphill moves per proposal at the coldest and the hottest temperature. With 0.03 instead
of 0.06, one of three runs on the dense graph G1 stayed at a cut of 11598, not 11624; with 0.0005
and 0.1, the cut of G81 was 50 further from the best known one after 10,000 sweeps."""
_REHEATINGS = 10
"""Length of the first annealing divided by that of the later ones. With 5 or 20, cuts of four
graphs were 1 to 14 lower."""


class FlipChains(ClimbChains):
    """Chains that propose to flip several independent items (a class) at a time."""

    header: ClassVar[Header] = Header("tempering/chains/flips.cuh")
    rungs: ClassVar[int] = 2
    cooling: ClassVar[Range] = (1e-3, 1.0)
    shares: Range = _SHARES
    keeps_quota: ClassVar[bool] = True
    effort: float = 0

    def __init__(self, settings: TemperingSettings, problem: Problem, shape: Shape) -> None:
        super().__init__(settings, problem, shape)
        assert problem.flips is not None, "the problem fits"
        self._flips: Flips = problem.flips
        self._proposals = self.most_proposals(settings, problem)

    @classmethod
    def fits(cls, problem: Problem) -> bool:
        return problem.flips is not None

    @property
    def reheating(self) -> int:
        # At least two generations, so that each annealing ends at the coldest temperature.
        return max(2, -(-self.settings.cycle // _REHEATINGS))

    @classmethod
    def most_proposals(cls, settings: TemperingSettings, problem: Problem) -> int:
        # At least one sweep, as every generation begins with the first item.
        return max(settings.proposals, problem.size)

    @property
    def work(self) -> int:
        return self._proposals

    def macros(self) -> Macros:
        return super().macros() | {
            "FLIP_NUMBER": f"{self._flips.both.dtype}_t",
            "TEMPERING_PRICE": Header("tempering/fixed_price.cuh"),
        }

    def items(self, problem: Problem) -> int:
        return problem.size

    def fields(self) -> dict[str, Field]:
        size = self.shape.population
        return {"roughness": Field((size,), np.float64), **super().fields()}

    def tables(self, problem: Problem) -> dict[str, NDArray[Any]]:
        assert problem.flips is not None, "the problem fits"
        return problem.flips.tables()

    def numbers(self) -> Hashable:
        return self._flips.is_symmetric

    def members(self, arrays: Mapping[str, Array]) -> Struct:
        tables = {name: arrays[f"flip_{name}"] for name in _TABLES}
        return Struct(**tables, is_symmetric=np.int32(self._flips.is_symmetric))
