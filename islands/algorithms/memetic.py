"""A memetic algorithm on orders that keeps individuals at a distance from each other.

Each individual is crossed with a random mate of its island. The child, usually improved by local
search, replaces the individual if it is better and no better individual is close to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from islands.algorithms import operators
from islands.algorithms.base import Algorithm, require_parents, reset_setting
from islands.backends.arguments import Struct
from islands.backends.base import Array
from islands.backends.source import Header, Macros
from islands.settings import Settings, setting

_ORDERS = "permutation"


@dataclass(frozen=True)
class MemeticSettings(Settings):
    """The settings of the memetic algorithm."""

    crossover: str = setting("uniform_like", "crossover operator")
    apart: float = setting(
        0.05,
        "minimum share of the items, and at least four items, in which mates must differ;"
        " otherwise, the child is a copy of the individual with random exchanges",
        low=0,
        high=1,
    )
    near: float = setting(
        0.02,
        "share of the items in which a child must differ from each better individual",
        low=0,
        high=1,
    )
    exchanges: float = setting(
        0.33, "maximum number of these random exchanges, as a share of the items", low=0, high=10
    )
    fewest: int = setting(5, "minimum number of these random exchanges", low=1, high=1000)
    reset: int = reset_setting()


class Memetic(Algorithm):
    """Memetic search with a diverse population on each island."""

    name: ClassVar[str] = "memetic"
    header: ClassVar[Header] = Header("algorithms/memetic.cuh")
    encodings: ClassVar[tuple[str, ...]] = (_ORDERS,)
    same_slots: bool = True
    grows_by_islands: ClassVar[bool] = False
    Settings: ClassVar[type[Settings]] = MemeticSettings

    def __init__(self, settings: MemeticSettings, population: int, encoding: str = _ORDERS) -> None:
        super().__init__(settings, population, encoding)
        self.patience = settings.reset
        self._crossover = operators.crossover(settings.crossover, encoding)
        require_parents(population)

    @classmethod
    def completed(cls, settings: MemeticSettings, encoding: str) -> MemeticSettings:
        return operators.completed(settings, encoding)

    def defines(self) -> Macros:
        return {"ISLANDS_CROSSOVER": self._crossover.header}

    def plan(self, arrays: Mapping[str, Array]) -> Struct:
        settings = self.settings
        return Struct(
            apart=np.float64(settings.apart),
            near=np.float64(settings.near),
            fewest=np.int32(settings.fewest),
            exchanges=np.float64(settings.exchanges),
        )

    def room(self, pitch: int) -> int:
        return self._crossover.room(pitch)
