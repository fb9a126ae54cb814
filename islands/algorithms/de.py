"""Differential evolution (Storn and Price 1997) on islands, for orders as in Jardim (2021).

Keys of orders and subsets may take any value and are never clipped. Bounded genes are initialised
within their range; a gene that would leave it moves half the distance to the bound instead.

With `adaptation=jde`, each individual has its own F and Cr, which change at random, are kept if the
resulting trial survives, and migrate with the individual (Brest, Greiner, Boskovic, Mernik and
Zumer 2006). With `nearby`, new values are drawn near those of the individual, mostly from the
distributions of JADE (Zhang and Sanderson 2009), which also introduced the strategy
current-to-pbest/1.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from islands.algorithms import messages
from islands.algorithms.base import Algorithm, Shape, require_interval, reset_setting
from islands.backends.arguments import Null, Struct
from islands.backends.base import Array
from islands.backends.source import Header, Macros
from islands.backends.state import Field
from islands.errors import UsageError
from islands.settings import Settings, setting

_TO_PBEST = "current-to-pbest/1"
_STRATEGIES = ("rand/1", "best/1", "current-to-best/1", _TO_PBEST)
_ADAPTATIONS = ("none", "jde", "nearby")
_FEWEST = 4  # an individual and three different others
_FARTHEST = 1e6
_RANGE = (0.0, 1.0)  # of bounded genes


@dataclass(frozen=True)
class DeSettings(Settings):
    """The settings of differential evolution, named as in the literature."""

    F: float = setting(0.7, "weight of the difference vector in a mutant", low=0, high=2)
    Cr: float = setting(
        0.9, "crossover rate: probability that a trial takes a gene of the mutant", low=0, high=1
    )
    low: float = setting(-3.0, "lower bound of the initial keys", low=-_FARTHEST, high=_FARTHEST)
    high: float = setting(3.0, "upper bound of the initial keys", low=-_FARTHEST, high=_FARTHEST)
    strategy: str = setting(
        "rand/1",
        "base of the mutant: a random individual, the best one, or the individual itself moved"
        " towards the best, or towards one of the best tenth",
        choices=_STRATEGIES,
    )
    adaptation: str = setting(
        "none",
        "whether each individual has its own F and Cr, which change at random (jde), or to values"
        " near those that were successful last (nearby)",
        choices=_ADAPTATIONS,
    )
    reset: int = reset_setting()

    def check(self) -> None:
        require_interval(self.low, self.high)


class De(Algorithm):
    """Differential evolution on keys or vectors."""

    name: ClassVar[str] = "de"
    header: ClassVar[Header] = Header("algorithms/de.cuh")
    encodings: ClassVar[tuple[str, ...]] = ("keys", "vector")
    same_slots: bool = True
    Settings: ClassVar[type[Settings]] = DeSettings

    def __init__(self, settings: DeSettings, population: int, encoding: str = "keys") -> None:
        super().__init__(settings, population, encoding)
        self.patience = settings.reset
        self.needs_order = settings.strategy == _TO_PBEST
        if population < _FEWEST:
            raise UsageError(
                f"population={population}: must be at least {_FEWEST} for de, which combines an"
                " individual with three others. Raise population"
            )

    @classmethod
    def confined(cls, settings: DeSettings) -> DeSettings:
        if (settings.low, settings.high) not in (_RANGE, (DeSettings.low, DeSettings.high)):
            raise messages.unused_bounds(low=settings.low, high=settings.high)
        return dataclasses.replace(settings, low=_RANGE[0], high=_RANGE[1])

    def defines(self) -> Macros:
        nearby = {"DE_NEARBY": "1"} if self.settings.adaptation == "nearby" else {}
        return {"DE_STRATEGY": str(_STRATEGIES.index(self.settings.strategy)), **nearby}

    def plan(self, arrays: Mapping[str, Array]) -> Struct:
        low, high = np.float32(self.settings.low), np.float32(self.settings.high)
        return Struct(
            low=low,
            width=high - low,
            weight=np.float32(self.settings.F),
            crossover=np.float32(self.settings.Cr),
            own_weight=arrays.get("weight", Null(np.float32)),
            own_crossover=arrays.get("crossover", Null(np.float32)),
        )

    def fields(self, shape: Shape) -> dict[str, Field]:
        if self.settings.adaptation == "none":
            return {}
        field = Field((shape.population,), np.float32, travels=True)
        return {"weight": field, "crossover": field}
