"""The options of benchmarks, and the functions that they share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from islands.backends.base import Backend
from islands.cells.campaign import Campaign
from islands.display.heartbeat import Heartbeat
from islands.parallel import World
from islands.record.folder import FolderKind
from islands.studies import described
from islands.tables import Table


@dataclass(frozen=True)
class BenchRequest:
    """The options of all benchmarks; each benchmark uses some of them."""

    world: World
    backends: Sequence[str]
    threads: int | None = None
    generations: int = 1000
    """Generations of one timed repeat of an algorithm."""
    islands_a_rank: int = 8
    population: int = 256
    migrants: int = 2
    islands: Sequence[int] = (8, 64, 512, 4096, 32768, 65536)
    """Numbers of islands that `topologies` simulates."""
    genes: int = 1000
    """Number of genes of the individuals whose bytes `topologies` counts."""
    instances: Sequence[str] = ("zi929", "mu1979", "ca4663", "fi10639")
    topology: str = "ring"
    interval: int = 50
    delay: Sequence[int] = (0, 1)
    seconds: float = 0.5
    """Approximate seconds of one repeat of `migration` and `recording`."""
    of: Sequence[str] = ("sac94",)
    """The instances of `quality` and `gpus`: names, sets and patterns of names."""
    limit: float = 10.0
    """Maximum seconds of each run in `quality`, `colonies` and `gpus`."""
    seeds: int = 5
    """Number of runs of each method on an instance in `quality`, `colonies` and `gpus`."""
    gap: Sequence[float] = (0.0,)
    """The targets of `gpus`, in per cent above the best known value; runs end at the smallest."""
    stop: int | None = None
    """Generations of speed runs in `gpus`; by default, as many as one rank does in `limit` / 2."""
    own_defaults: bool = False
    """Whether `gpus` uses the defaults for each number of ranks, and not those for the largest."""
    share_gpu: bool = False
    """Whether several ranks of `gpus` may use the same GPU."""
    every: int | None = None
    """Generations between two reads of the best cost; by default `EVERY` of the backend."""
    variant: Sequence[str] = ()
    """The settings of each method of `quality`, `many` and `gpus`; empty: the default run."""
    rivals: Sequence[str] = ()
    """Other programs that `quality` and `many` also run."""
    cities: Sequence[int] = ()
    facilities: Sequence[int] = ()
    """The sizes of the tours and assignments of `many`; if both are empty, its `SIZES`."""
    mixes: Sequence[str] = ("tai60a", "pr2392", "mknapcb9-00")
    """The instances of `colonies`."""
    colony: Sequence[str] = ()
    """The settings of each colony of `colonies`; empty: those of the problem."""
    out: Path | None = None
    """The folder for all tables; `quality`, `colonies` and `gpus` also store each run there."""
    heartbeat: Heartbeat = field(default_factory=Heartbeat)

    @cached_property
    def campaign(self) -> Campaign:
        """The runs of `quality`, `colonies` and `gpus`, with those of earlier commands in `out`."""
        return Campaign(self.world, self.heartbeat, FolderKind.MEASUREMENT)


TABLES = Path(__file__).with_name("tables.toml")
"""The file that describes the tables of benchmarks."""


def table(name: str, **functions: Callable[[Any], Any]) -> Table:
    """Return a table of `tables.toml`; its columns refer to `functions` by name."""
    return described.table(TABLES, name, **functions)


def timed(backend: Backend, repeats: int, work: Callable[[], object]) -> list[float]:
    """Return the milliseconds of each repeat, after a first one that does not count."""
    times = []
    for _ in range(1 + repeats):
        with backend.timed() as milliseconds:
            work()
        times += milliseconds
    return times[1:]


def spread(repeats: Sequence[float]) -> float:
    """Return (largest - smallest) / median."""
    return (max(repeats) - min(repeats)) / median(repeats)
