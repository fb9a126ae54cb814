"""Chains that choose some of n places, for assignment problems with two kinds of items."""

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

if TYPE_CHECKING:
    from islands.problems.base import Problem
    from islands.problems.qap_choice import Choice

_EXCESS = 0.04, 0.1
"""Excess that determines the ends of a ladder, per chosen place."""
_AT_ONCE = 4  # proposals per place that a block evaluates together
_ROWS = 2.0
"""Number of rows of pairs that take as long as an accepted exchange."""


class PlaceChains(EnergyChains):
    """Chains for problems that choose places."""

    header: ClassVar[Header] = Header("tempering/chains/places.cuh")
    cooling: ClassVar[Range] = (0.1, 2.0)

    def __init__(self, settings: TemperingSettings, problem: Problem, shape: Shape) -> None:
        super().__init__(settings, problem, shape)
        self._choice = choice = _choice_of(problem)
        share = choice.chosen / choice.size
        self.excess = _EXCESS[0] * share, _EXCESS[1] * share
        self.effort = _ROWS / choice.chosen

    @classmethod
    def fits(cls, problem: Problem) -> bool:
        return problem.swaps is not None and problem.swaps.choice is not None

    def macros(self) -> Macros:
        return super().macros() | {
            "TEMPERING_WEIGHT": f"{self._choice.weights.dtype}_t",
            "TEMPERING_FIELD": f"{self._choice.alone.dtype}_t",
        }

    def items(self, problem: Problem) -> int:
        # Few rows of pairs at once, as an acceptance invalidates the remaining ones.
        return _AT_ONCE * self._choice.size

    def tables(self, problem: Problem) -> dict[str, NDArray[Any]]:
        assert problem.swaps is not None, "the problem fits"
        choice = _choice_of(problem)
        return problem.swaps.tables() | {
            "weights": choice.weights,
            "alone": choice.alone,
            "symmetries": choice.symmetries(),
        }

    def members(self, arrays: Mapping[str, Array]) -> Struct:
        return Struct(
            alike_places=arrays.get("alike_places", Null(np.int32)),
            weights=arrays["weights"],
            alone=arrays["alone"],
            scale=np.int64(self._choice.scale),
            symmetries=arrays["symmetries"],
            symmetry_count=np.int32(arrays["symmetries"].shape[1]),
            chosen=np.int32(self._choice.chosen),
        )


def _choice_of(problem: Problem) -> Choice:
    choice = None if problem.swaps is None else problem.swaps.choice
    assert choice is not None, "the problem fits"
    return choice
