"""Migration in four words: topology (who sends to whom), selection, replacement, schedule.

Selection is of the best, replacement of the worst. Who sends to whom is a pure function of the
number of islands, so that all ranks agree without talking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from islands.settings import Settings, setting

Sources = Callable[[int, int], list[int]]
"""(island, islands) -> the islands whose migrants it receives, ascending."""


def ring(island: int, islands: int) -> list[int]:
    """Each island sends to its successor."""
    return [(island - 1) % islands] if islands > 1 else []


def elite(island: int, islands: int) -> list[int]:
    """Each island sends to every other, as BRKGA exchanges its elite."""
    return [source for source in range(islands) if source != island]


def none(island: int, islands: int) -> list[int]:
    """Nobody sends."""
    return []


TOPOLOGIES: dict[str, Sources] = {"ring": ring, "elite": elite, "none": none}


@dataclass(frozen=True)
class MigrationSettings(Settings):
    """How migrants travel."""

    topology: str = setting("elite", "who sends to whom", choices=tuple(TOPOLOGIES))
    interval: int = setting(100, "generations from one migration to the next", low=1)
    migrants: int = setting(2, "individuals that each island sends", low=1)
