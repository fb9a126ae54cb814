"""Migration in four words: topology, selection, replacement, schedule.

Who sends to whom, who leaves, who makes room, and when they leave and are taken in.
"""

from __future__ import annotations

from dataclasses import dataclass

from islands.migration.topology import TOPOLOGIES
from islands.settings import Settings, setting

SELECTIONS = ("best", "random", "roulette")
REPLACEMENTS = ("worst", "random", "if-better")
DUPLICATES = ("accept", "refuse")


@dataclass(frozen=True)
class MigrationSettings(Settings):
    """How migrants travel."""

    topology: str = setting("elite", "who sends to whom", choices=TOPOLOGIES)
    interval: int = setting(100, "generations from one migration to the next", low=1)
    migrants: int = setting(2, "individuals that each island sends", low=1)
    selection: str = setting("best", "who leaves", choices=SELECTIONS)
    replacement: str = setting("worst", "who makes room, never the elite", choices=REPLACEMENTS)
    duplicates: str = setting(
        "accept", "what becomes of a migrant that the island has already", choices=DUPLICATES
    )
    delay: int = setting(
        0, "1: migrants travel while the islands evolve, to the next migration", low=0, high=1
    )
