"""How an island sets the extreme temperatures of its ladders: from energies or uphill moves.

Each generation of the cooling phase measures the energy, or the share of accepted uphill
moves, which raise the cost. Each end is set to the temperature at which this had a given value.
"""

from collections.abc import Mapping

import numpy as np

from islands.algorithms.tempering.chains import Range, ReplicaChains
from islands.backends.arguments import Struct
from islands.backends.base import Array
from islands.backends.state import Field


class EnergyChains(ReplicaChains):
    """Chains whose ladders are set from mean energies; their work is counted in sweeps."""

    excess: Range
    """Mean energies at both ends minus the final one, divided by temperature and number of items:
    see kernels/tempering/by_energies.cuh."""

    @property
    def work(self) -> int:
        return self.settings.sweeps

    def ends(self, arrays: Mapping[str, Array]) -> Struct:
        return Struct(
            cold_excess=np.float64(self.excess[0]),
            hot_excess=np.float64(self.excess[1]),
            heat=arrays["heat"],
        )


class ClimbChains(ReplicaChains):
    """Chains whose ladders are set from uphill moves; their work is counted in proposals."""

    shares: Range
    """Accepted uphill moves per proposal at both ends: see kernels/tempering/by_climbs.cuh."""

    @property
    def work(self) -> int:
        return self.settings.proposals

    @property
    def reheating(self) -> int:
        """Generations of each annealing after the first; 0: determined by `cycle`."""
        return 0

    def fields(self) -> dict[str, Field]:
        size, ladders = self.shape.population, self.ladders
        return {
            "climbs": Field((size,), np.int64),
            "proposals": Field((size,), np.int64),
            "shares": Field((ladders, max(1, self.settings.generations_of_tuning)), np.float64),
            "range": Field((ladders, 2), np.float64),
        }

    def ends(self, arrays: Mapping[str, Array]) -> Struct:
        return Struct(
            cold_share=np.float64(self.shares[0]),
            hot_share=np.float64(self.shares[1]),
            cycle=np.int32(self.settings.cycle),
            reheating=np.int32(self.reheating),
            **{name: arrays[name] for name in ("climbs", "proposals", "shares", "range")},
        )
