"""The paper's population of 4096 on one island or more, with its two ways to migrate and none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PRESET = "dantas2014-cuda"
GENERATIONS = 50
RUNS = 10
"""The paper does not say how many it made."""
POPULATION = 4096


@dataclass(frozen=True)
class Division:
    """The population divided among so many islands, and who sends to whom."""

    count: int
    migration: str

    @property
    def name(self) -> str:
        """The name of its columns in files."""
        return f"{self.count}_{self.migration}" if self.count > 1 else "1"

    @property
    def words(self) -> str:
        """Its name for people."""
        return f"{self.count} {self.migration}" if self.count > 1 else "1 island"

    def options(self) -> dict[str, Any]:
        """Return the settings that make it of the preset."""
        return {
            "islands": self.count,
            "population": POPULATION // self.count,
            "migration": self.migration,
        }


ONE = Division(1, "none")
"""The paper's sequential program."""


def divided(*counts: int) -> tuple[Division, ...]:
    """Return the divisions into so many islands, with each migration and none."""
    ways = ("none", "ring", "broadcast")
    return tuple(Division(count, migration) for count in counts for migration in ways)


SEVERAL = divided(8, 64)
ALL = (ONE, *SEVERAL)
