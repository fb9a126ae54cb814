"""Random runs for `tests/deadlines`: recorded ones, large instances, and slow problems of users."""

import os
import random
import re
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from digest_rows import rows
from slow_problems import written

from islands.algorithms import ALGORITHMS
from islands.configuration.fit import fitting
from islands.improvers import improvers_for
from islands.migration import TOPOLOGIES
from islands.problems import load

LARGE = (
    *("national/sw24978", "national/zi929", "national/mu1979", "national/ho14473"),
    *("qaplib/tai100a", "qaplib/bur26a", "qaplib/tho150", "gk/gk01", "gk/gk11"),
)
"""Published instances, whose generations may be slow."""


@dataclass(frozen=True)
class RandomRun:
    """A run without its stopping criteria and output."""

    instance: str
    options: list[str]
    backend: str
    ranks: int
    is_asynchronous: bool

    def line(self) -> list[str]:
        more = ["--backend", self.backend, *(["--async"] if self.is_asynchronous else [])]
        return [self.instance, *self.options, *more]


class RandomRuns:
    def __init__(
        self, folder: Path, ranks: list[int], backend: str = "cpu", *, own: float = 0.0
    ) -> None:
        """Let a share of the runs have a problem of a user's `own`, some of them very slow."""
        self._own, self._folder, self._ranks, self._backend = own, folder, ranks, backend
        self.problem = cache(load)
        """Returns an instance by name."""

    def draw_run(self, draw: random.Random, *, may_be_asynchronous: bool = False) -> RandomRun:
        """Return a run of one of the three kinds."""
        if draw.random() < self._own:
            instance, options = written(draw, self._folder), self._sizes(draw)
        elif "ISLANDS_INSTANCES" in os.environ and draw.random() < 0.4:
            instance = draw.choice(LARGE)
            options = [*self._method(draw, instance), *self._sizes(draw)]
        else:
            words = shlex.split(draw.choice(rows())["run"])
            if "--stop" in words:
                del words[words.index("--stop") : words.index("--stop") + 2]
            instance, *options = words
        ranks = self.ranks(draw)
        # A halo, ranks that share islands, or a topology that changes, exclude --async.
        islands = sum(map(int, re.findall(r"islands[= ](\d+)", " ".join(options))))
        may_be_asynchronous &= 1 < ranks <= islands and "eax" not in options
        may_be_asynchronous &= not any("halo" in word for word in options)
        may_be_asynchronous &= not any(
            TOPOLOGIES[word].changes for word in options if word in TOPOLOGIES
        )
        is_asynchronous = may_be_asynchronous and draw.random() < 0.2
        return RandomRun(instance, options, self._backend, ranks, is_asynchronous)

    def ranks(self, draw: random.Random) -> int:
        """Return a number of ranks, which may be larger than that of islands."""
        return draw.choice(self._ranks)

    def _method(self, draw: random.Random, instance: str) -> list[str]:
        problem = self.problem(instance)
        algorithm, encoding = draw.choice(fitting(problem))
        improvers = ["none"]
        if ALGORITHMS[algorithm].improves:
            kinds = improvers_for(problem.solution_kind).items()
            has_near = problem.near is not None
            improvers += [name for name, kind in kinds if has_near or not kind.uses_neighbours]
        improver = draw.choice(improvers)
        return ["--algorithm", algorithm, "--encoding", encoding, "--improver", improver]

    def _sizes(self, draw: random.Random) -> list[str]:
        population = 8 * draw.choice((1, 2, 4, 16, 64))  # a multiple of the rungs of tempering
        found = {"islands": draw.randint(1, 12), "population": population}
        found["seed"] = draw.randrange(10**6)
        found["interval"] = draw.choice((1, 5, 50, 200))
        found["migrants"] = 1
        words = [f"--set=checkpoint.every={draw.choice((0, 0.3, 60))}"]
        return [*words, *(f"--{name}={value}" for name, value in found.items())]
