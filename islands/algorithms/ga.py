"""The genetic algorithm: generational (Dantas and Cáceres 2014) or steady-state.

The steady-state form rejects duplicates, as in Chu and Beasley (1998), but creates many children
per generation; each competes with one of the worst individuals.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from islands.algorithms import operators
from islands.algorithms.base import Algorithm, require_parents, reset_setting
from islands.backends.arguments import Struct
from islands.backends.base import Array
from islands.backends.source import Header, Macros
from islands.errors import UsageError
from islands.settings import Settings, setting

_KINDS = {"best": 0, "tournament": 1, "random": 1, "proportional": 2}
"""`GA_SELECTION` of the kernel; random selection is a tournament of size one."""
_REPLACEMENTS = ("generational", "steady")
_DUPLICATES = ("accept", "reject")
_LARGEST_TOURNAMENT, _MOST_MUTATIONS = 1000, 1000


@dataclass(frozen=True)
class GaSettings(Settings):
    """The settings of the genetic algorithm."""

    selection: str = setting(
        "tournament",
        "parent selection: the two best individuals, tournaments, uniformly at random, or in"
        " proportion to fitness",
        choices=tuple(_KINDS),
    )
    tournament: int = setting(
        2,
        "individuals drawn for a tournament, whose best becomes a parent",
        low=1,
        high=_LARGEST_TOURNAMENT,
        of="selection=tournament",
    )
    crossover: str = setting("", "crossover operator; empty: the default of the encoding")
    mutation: str = setting("", "mutation operator; empty: the default of the encoding")
    crossover_rate: float = setting(1.0, "probability of crossover", low=0, high=1)
    mutation_rate: float = setting(1.0, "probability that a child is mutated", low=0, high=1)
    strength: int = setting(1, "mutations applied to a child", low=1, high=_MOST_MUTATIONS)
    replacement: str = setting(
        "steady",
        "whether children replace the population (generational), or each child competes with one"
        " of the worst individuals (steady)",
        choices=_REPLACEMENTS,
    )
    elite: int = setting(
        0, "best individuals that survive each generation", low=0, of="replacement=generational"
    )
    children: int = setting(
        0, "children per generation; 0: half the population", low=0, of="replacement=steady"
    )
    duplicates: str = setting(
        "reject",
        "whether to accept or reject a child that the island already contains",
        choices=_DUPLICATES,
        of="replacement=steady",
    )
    reset: int = reset_setting()


class Ga(Algorithm):
    """A genetic algorithm on each island."""

    name: ClassVar[str] = "ga"
    header: ClassVar[Header] = Header("algorithms/ga.cuh")
    needs_order: bool = True
    encodings: ClassVar[tuple[str, ...]] = operators.ENCODINGS
    Settings: ClassVar[type[Settings]] = GaSettings

    def __init__(self, settings: GaSettings, population: int, encoding: str = "bits") -> None:
        super().__init__(settings, population, encoding)
        self.patience = settings.reset
        self._is_steady = settings.replacement == "steady"
        self._rejects = self._is_steady and settings.duplicates == "reject"
        self.same_slots = not self._rejects
        self.loses_best = not self._is_steady and settings.elite == 0
        self._crossover = operators.crossover(_requested(settings.crossover, encoding), encoding)
        self._mutation = operators.mutation(settings.mutation, encoding)
        require_parents(population)
        if settings.elite >= population:
            raise UsageError(
                f"elite={settings.elite}: must be below population={population} to leave room for"
                " children. Lower elite or raise population"
            )
        if settings.children > population:
            raise UsageError(
                f"children={settings.children}: must be at most population={population}. Lower"
                " children or raise population"
            )
        if self._is_steady:
            self.survivors = population - (settings.children or population // 2)
        else:
            self.survivors = settings.elite

    @classmethod
    def completed(cls, settings: GaSettings, encoding: str) -> GaSettings:
        crossover = _requested(settings.crossover, encoding)
        return operators.completed(dataclasses.replace(settings, crossover=crossover), encoding)

    def defines(self) -> Macros:
        chosen = operators.macros(self._crossover, self._mutation)
        return chosen | {"GA_SELECTION": str(_KINDS[self.settings.selection])}

    def plan(self, arrays: Mapping[str, Array]) -> Struct:
        settings = self.settings
        return Struct(
            crossing=np.uint64(round(settings.crossover_rate * 2.0**32)),
            mutating=np.uint64(round(settings.mutation_rate * 2.0**32)),
            survivors=np.int32(self.survivors),
            tournament=np.int32(1 if settings.selection == "random" else settings.tournament),
            strength=np.int32(settings.strength),
            steady=np.int32(self._is_steady),
            rejects=np.int32(self._rejects),
        )

    def room(self, pitch: int) -> int:
        return max(self._crossover.room(pitch), self._mutation.room(pitch))

    def kept(self) -> int:
        # The steady state always replaces the worst, so immigrants may replace all but the best.
        return 0 if self._is_steady else self.settings.elite

    def copied(self) -> int:
        return self.survivors


def _requested(crossover: str, encoding: str) -> str:
    """Return the requested crossover, by default uniform for bits and empty for other encodings."""
    return crossover or ("uniform" if encoding == "bits" else "")
