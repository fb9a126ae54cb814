"""The cellular evolutionary algorithm of PUGACE (Soca, Blengio, Pedemonte and Ezzatti 2010).

Individuals are arranged on a ring or a torus. In each generation, all of them mate at the same
time, each with one of its neighbours, and the better of the two children replaces the individual.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from islands.algorithms import operators
from islands.algorithms.base import Algorithm, require_even, reset_setting
from islands.backends.arguments import Null, Struct
from islands.backends.base import Array
from islands.backends.source import Header, Macros
from islands.errors import UsageError
from islands.settings import Settings, setting
from islands.text import counted

_RING, _TORUS = "ring", "torus"
_SHAPES = ("von_neumann", "moore")
_SELECTIONS = ("random", "proportional", "relative", "best")
_REPLACEMENTS = ("generational", "elitist")
_MOST_NEIGHBOURS, _LARGEST_RADIUS = 1024, 15  # one block reads the whole neighbourhood
_MOST_MUTATIONS = 1000


@dataclass(frozen=True)
class CellularSettings(Settings):
    """The settings of the cellular algorithm."""

    grid: str = setting(_RING, "arrangement of the individuals", choices=(_RING, _TORUS))
    neighbours: int = setting(
        4,
        "neighbours of an individual on the ring, half on each side",
        low=2,
        high=_MOST_NEIGHBOURS,
        of="grid=ring",
    )
    shape: str = setting(
        "von_neumann", "shape of the neighbourhood on the torus", choices=_SHAPES, of="grid=torus"
    )
    radius: int = setting(
        1, "radius of the neighbourhood on the torus", low=1, high=_LARGEST_RADIUS, of="grid=torus"
    )
    width: int = setting(
        0,
        "columns of the torus; 0: the torus, or with halo=true each island's slice, is as square as"
        " possible",
        low=0,
        of="grid=torus",
    )
    selection: str = setting(
        "proportional",
        "how a mate is selected from the neighbours: proportional weights them by 1 / (1 + cost),"
        " relative by how much better than the worst neighbour they are",
        choices=_SELECTIONS,
    )
    crossover: str = setting("", "crossover operator; empty: the default of the encoding")
    mutation: str = setting("", "mutation operator; empty: the default of the encoding")
    crossover_rate: float = setting(0.9, "probability of crossover", low=0, high=1)
    mutation_rate: float = setting(0.1, "probability that children are mutated", low=0, high=1)
    strength: int = setting(1, "mutations applied to a child", low=1, high=_MOST_MUTATIONS)
    group: int = setting(
        64,
        "consecutive individuals that share the crossover decision and the cut points",
        low=1,
        high=1_000_000,
    )
    replacement: str = setting(
        "generational",
        "whether the better child always replaces its parent, or only if it is better (elitist)",
        choices=_REPLACEMENTS,
    )
    reset: int = reset_setting()
    halo: bool = setting(False, "whether all islands are slices of one large grid")

    def check(self) -> None:
        super().check()
        require_even(self.neighbours)


class Cellular(Algorithm):
    """Cellular evolution on a grid on each island, or on one grid across all islands."""

    name: ClassVar[str] = "cellular"
    header: ClassVar[Header] = Header("algorithms/cellular.cuh")
    encodings: ClassVar[tuple[str, ...]] = operators.ENCODINGS
    children: int = 2
    same_slots: bool = True
    Settings: ClassVar[type[Settings]] = CellularSettings

    def __init__(
        self, settings: CellularSettings, population: int, encoding: str = "permutation"
    ) -> None:
        super().__init__(settings, population, encoding)
        self.patience = settings.reset
        self.loses_best = settings.replacement == "generational"
        self._crossover = operators.crossover(settings.crossover, encoding)
        self._mutation = operators.mutation(settings.mutation, encoding)
        if settings.grid == _RING:
            self._kind, self._radius, self.width = 0, settings.neighbours // 2, 1
            self.neighbours = settings.neighbours
        else:
            self._kind, self._radius = 1 + _SHAPES.index(settings.shape), settings.radius
            self.width = self._columns()
            r = settings.radius
            self.neighbours = (2 if settings.shape == "von_neumann" else 4) * r * (r + 1)
        if not settings.halo:
            self._require_size(population, f"population={population}")
        self._reach = self._radius * self.width
        self.halo = self._reach if settings.halo else 0

    @classmethod
    def completed(cls, settings: CellularSettings, encoding: str) -> CellularSettings:
        return operators.completed(settings, encoding)

    def defines(self) -> Macros:
        settings = self.settings
        numbers = {
            "NEIGHBOURHOOD_KIND": self._kind,
            "NEIGHBOURHOOD_RADIUS": self._radius,
            "CELLULAR_SELECTION": _SELECTIONS.index(settings.selection),
            "NEIGHBOURHOOD_HALO": int(settings.halo),
        }
        chosen = operators.macros(self._crossover, self._mutation)
        return chosen | {name: str(number) for name, number in numbers.items()}

    def plan(self, arrays: Mapping[str, Array]) -> Struct:
        settings = self.settings
        return Struct(
            grid=Struct(
                width=np.int32(self.width),
                reach=np.int32(self._reach),
                halo=arrays.get("halo", Null(np.uint8)),
            ),
            crossing=np.uint64(round(settings.crossover_rate * 2.0**32)),
            mutating=np.uint64(round(settings.mutation_rate * 2.0**32)),
            group=np.uint64(((1 << 64) - 1) // settings.group + 1 if settings.group > 1 else 0),
            strength=np.int32(settings.strength),
            elitist=np.int32(settings.replacement == "elitist"),
        )

    def room(self, pitch: int) -> int:
        return max(self._crossover.room(pitch), self._mutation.room(pitch))

    def require_islands(self, islands: int) -> None:
        if self.settings.halo:
            named = f"islands={islands} x population={self.population}"
            self._require_size(islands * self.population, named)

    def _columns(self) -> int:
        """Return the number of columns of the torus."""
        population = self.population
        side = math.isqrt(population)
        square = next(side - k for k in range(side) if population % (side - k) == 0)
        width = self.settings.width or square
        if population % width:
            raise UsageError(
                f"width={width}: must divide population={population}. Choose a divisor, or 0 for a"
                " torus that is as square as possible"
            )
        return width

    def _require_size(self, individuals: int, named: str) -> None:
        """Reject a grid in which a neighbourhood would contain an individual twice."""
        if self.settings.grid == _RING:
            if individuals <= self.settings.neighbours:
                raise UsageError(
                    f"{named}: a ring with neighbours={self.settings.neighbours} needs at least"
                    f" {self.settings.neighbours + 1} individuals. Raise population, or lower"
                    " neighbours"
                )
            return
        least, rows = 2 * self._radius + 1, individuals // self.width
        if min(self.width, rows) < least:
            square = max(least, math.isqrt(self.population)) ** 2
            raise UsageError(
                f"{named} on a torus of {counted(rows, 'row')} and {counted(self.width, 'column')}:"
                f" radius={self._radius} needs at least {least} of each. Choose another width, a"
                f" population such as {square}, or a smaller radius"
            )
