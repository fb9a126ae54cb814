"""The paper's population of 4096 on one or more islands, with and without migration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from islands.reproduce.orlib import first_names, kind
from islands.reproduce.pooled import PooledTable

INTERPRETATIONS = (
    "migration is described twice: ring is that of the text, broadcast that of Algorithm 2",
    "the paper does not say whether 4096 is per process or in total; here it is the total",
    "the probability of a mutation is not stated: one flip in each child",
    "the number of runs is not stated: ten of each problem, three of those that are timed",
)
"""What was chosen where the paper is silent."""

PRESET = "dantas2014-cuda"
GENERATIONS = 50
RUNS = 10
"""The paper does not state its number of runs."""
POPULATION = 4096


@dataclass(frozen=True)
class Division:
    """The population divided among `count` islands, with a migration topology."""

    count: int
    migration: str

    @property
    def name(self) -> str:
        """The name of its columns in files."""
        return f"{self.count}_{self.migration}" if self.count > 1 else "1"

    @property
    def words(self) -> str:
        """The displayed name."""
        return f"{self.count} {self.migration}" if self.count > 1 else "1 island"

    @property
    def sentence(self) -> str:
        """The name in a text that does not say that islands are counted."""
        migration = "no migration" if self.migration == "none" else f"migration {self.migration}"
        return f"{self.count} islands, {migration}" if self.count > 1 else self.words

    def options(self) -> dict[str, Any]:
        """Return the options that change the preset to this division."""
        return {
            "islands": self.count,
            "population": POPULATION // self.count,
            "migration": self.migration,
        }


ONE = Division(1, "none")
"""The paper's sequential program."""


def divided(*counts: int) -> tuple[Division, ...]:
    """Return the divisions into each number of islands, with each topology."""
    ways = ("none", "ring", "broadcast")
    return tuple(Division(count, migration) for count in counts for migration in ways)


SEVERAL = divided(8, 64)
ALL = (ONE, *SEVERAL)


class SizeTable(PooledTable):
    """A table of the first problem of each kind, with one or more rows per size."""

    preset: ClassVar[str] = PRESET
    generations: ClassVar[int] = GENERATIONS

    @classmethod
    def names(cls) -> list[str]:
        """Return the first problem of each kind in the OR-Library."""
        return first_names()

    @classmethod
    def group(cls, instance: str) -> str:
        """Return the size of a problem."""
        return kind(instance).size
