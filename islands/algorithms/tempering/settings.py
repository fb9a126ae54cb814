"""The settings of parallel tempering."""

from dataclasses import dataclass

from islands.algorithms.base import reset_setting
from islands.errors import UsageError
from islands.settings import Settings, setting

MOVES = 400
"""Default number of proposals of a replica per generation, for chains of single moves."""

ROUGHNESS_SAMPLES = 32
"""Moves of a replica in generation 0 that measure the mean cost change."""


@dataclass(frozen=True)
class TemperingSettings(Settings):
    """The settings of parallel tempering."""

    rungs: int = setting(
        8, "temperatures of a ladder; the population consists of whole ladders", low=2, high=64
    )
    sweeps: int = setting(
        96,
        "work of a replica per generation, in sweeps over all pairs of items. With temperatures"
        " set by the island, it is at most 96 sweeps while the replica cools down, and an accepted"
        " exchange counts as 0.35 sweeps, 0.6 in an unstructured instance, or 2/p if p locations"
        " are chosen",
        low=1,
        high=1_000_000,
    )
    coldest: float = setting(
        0.0,
        "lowest temperature, relative to the mean change in cost due to an exchange; 0: set by each"
        " island",
        low=0,
        high=10,
    )
    hottest: float = setting(
        0.0, "highest temperature, in the same unit; 0: set by each island", low=0, high=10
    )
    tuning: int = setting(
        40,
        "generations in which an island cools down, after which it sets its temperatures",
        low=1,
        high=2**31 - 1,
    )
    patience: int = setting(
        100,
        "generations without improvement before the hotter half of a ladder is renewed; 0: never."
        " If state= has a crossover, all replicas but the best are renewed, and the default is 10,"
        " or 200 for steps with a GPU",
        low=0,
        high=2**31 - 1,
    )
    descent: int = setting(
        0,
        "generations that a replica stays at each temperature while it descends from the hottest to"
        " the coldest, after which a child takes its place; 0: replicas exchange temperatures",
        low=0,
        high=2**31 - 1,
    )
    proposals: int = setting(
        MOVES,
        "user-defined problems and knapsacks: moves that a replica proposes per generation. An"
        " accepted move counts as four more proposals, or 300 in a knapsack. Defaults: 100 with"
        " function=; per item with state=: 40 (2 for steps on a GPU), 600 (60 on a GPU) if the"
        " state learns, 10 if it searches",
        low=1,
        high=1_000_000_000,
    )
    cycle: int = setting(
        0,
        "user-defined problems: generations of the first annealing, in which all replicas cool"
        " down; each further annealing has twice as many (for sparse quadratic models, usually a"
        " tenth of the first); 0: ladders, whose replicas exchange temperatures. The default is 100"
        " for most user-defined problems",
        low=0,
        high=2**31 - 1,
    )
    reset: int = reset_setting()

    def check(self) -> None:
        super().check()
        if (self.coldest > 0) != (self.hottest > 0):
            raise UsageError(
                f"coldest={self.coldest:g} and hottest={self.hottest:g}: set both temperatures, or"
                " leave both out"
            )
        if self.coldest > self.hottest:
            raise UsageError(
                f"coldest={self.coldest:g}: must be at most hottest={self.hottest:g}. Lower"
                " coldest, or raise hottest"
            )

    @property
    def are_given(self) -> bool:
        """Whether the temperatures are given instead of set by each island."""
        return self.coldest > 0

    @property
    def generations_of_tuning(self) -> int:
        """The length of the cooling phase in generations; 0: temperatures are given."""
        return 0 if self.are_given else self.tuning
