"""What a benchmark is asked for, and what it answers with: rows of tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from islands.display.heartbeat import Heartbeat
from islands.parallel import World


@dataclass(frozen=True)
class Asked:
    """The options of all benchmarks; each takes what concerns it."""

    world: World
    backends: Sequence[str]
    threads: int | None = None
    generations: int = 1000
    """Generations that a repeat of an algorithm passes."""
    islands_a_rank: int = 8
    population: int = 256
    migrants: int = 2
    islands: Sequence[int] = (8, 64, 512, 4096, 32768, 65536)
    """The numbers of islands that `topologies` looks at."""
    genes: int = 1000
    """Genes of the individuals that `topologies` counts the bytes of."""
    instances: Sequence[str] = ("zi929", "mu1979", "ca4663", "fi10639")
    topology: str = "ring"
    interval: int = 50
    delay: Sequence[int] = (0, 1)
    seconds: float = 0.5
    """Seconds that a repeat of `migration` takes, about."""
    of: Sequence[str] = ("sac94",)
    """What `quality` solves: instances, sets, and patterns of names."""
    limit: float = 10.0
    """Seconds that each of its runs takes, at most."""
    seeds: int = 5
    """How many runs of an instance it makes."""
    highs: bool = False
    """Whether HiGHS is put beside it."""
    heartbeat: Heartbeat = field(default_factory=Heartbeat)


@dataclass(frozen=True)
class Row(ABC):
    """One line of a table; its fields are what --json and --out give."""

    TABLE: ClassVar[str]
    HEADER: ClassVar[str]

    @abstractmethod
    def line(self) -> str:
        """Return the row under `HEADER`."""
