"""Random settings of runs: problem, size, algorithm, improver, migration and ranks.

Choices come from the package itself, so new parts are included.
"""

from __future__ import annotations

import dataclasses
import math
import os
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from instance_texts import drake_text, qaplib_text, tsplib_text
from slow_problems import written as written_slow

from islands.algorithms import ALGORITHMS
from islands.algorithms.operators import CROSSOVERS, MUTATIONS
from islands.algorithms.tempering import TemperingSettings
from islands.backends import choose
from islands.configuration.fit import fitting, require_possible
from islands.configuration.resolve import layers
from islands.configuration.spec import GeneralSettings
from islands.errors import IslandsError
from islands.improvers import ImproverSettings, improvers_for
from islands.instances.synthetic import correlated_mkp, grid_qap, uniform_tsp
from islands.migration import TOPOLOGIES, MigrationSettings
from islands.modelling.model import Model
from islands.problems import load
from islands.problems.base import Problem
from islands.run.request import resolved
from islands.settings import Settings

SEED = 7
"""The seed of the synthetic instances."""
PUBLISHED = (
    *("national/sw24978", "national/zi929", "national/mu1979", "national/ho14473"),
    *("qaplib/tai100a", "qaplib/bur26a", "qaplib/tho150", "gk/gk01", "gk/gk11"),
)
_MOST_GENES = 1 << 26  # in all islands: half a gigabyte, as memory holds keys twice
_CITIES = (10, 25, 60, 150, 400, 1000, 2500, 6000, 12_000, 25_000)
_SIDES = (2, 4, 6, 10, 16)  # of the square grids of facilities
_ITEMS, _LIMITS = (10, 60, 400, 2500, 25_000), (1, 10)
_NAMED: dict[str, Iterable[str]] = {"crossover": CROSSOVERS, "mutation": MUTATIONS}
"""Settings whose choices depend on the encoding."""
_RARELY = 0.15
"""The probability that a setting differs from its default."""


@dataclass(frozen=True)
class RandomRun:
    """A run without its stopping criteria and output."""

    instance: str
    values: dict[str, Any]
    ranks: int
    is_asynchronous: bool

    def line(self) -> list[str]:
        """Return the arguments of `islands run`."""
        settings = [f"--set={key}={value}" for key, value in self.values.items()]
        return [self.instance, *settings, *(["--async"] if self.is_asynchronous else [])]


class RandomRuns:
    """Draws random runs; writes synthetic instances into a folder."""

    def __init__(
        self, folder: Path, ranks: list[int], backend: str = "cpu", *, own: float = 0.0
    ) -> None:
        """Let a share of the runs have a problem of a user's `own`, some of them very slow."""
        self._own = own
        self._folder, self._ranks, self._device = folder, ranks, choose(backend)
        self.problem = cache(load)
        """Returns an instance by name."""
        self._published = [name for name in PUBLISHED if self._is_there(name)]

    def draw_run(self, draw: random.Random, *, may_be_asynchronous: bool = False) -> RandomRun:
        """Return a run with valid settings; invalid ones are drawn again."""
        instance = self._instance(draw)
        while True:
            problem = self.problem(instance)
            values = self._values(draw, problem)
            ranks = self.ranks(draw)
            is_asynchronous = may_be_asynchronous and ranks > 1 and draw.random() < 0.2
            # A halo, or a topology that changes, excludes --async.
            draws_partners = TOPOLOGIES[values["migration.topology"]].changes
            if is_asynchronous and (values.get("halo") or draws_partners):
                continue
            try:
                self._require_possible(instance, values, problem)
            except IslandsError:
                continue
            return RandomRun(instance, values, ranks, is_asynchronous)

    def ranks(self, draw: random.Random) -> int:
        """Return a number of ranks, which may be larger than that of islands."""
        return draw.choice(self._ranks)

    def _require_possible(self, instance: str, values: dict[str, Any], problem: Problem) -> None:
        spec, adjusted = resolved(layers({"instance": instance, **values}), problem)
        require_possible(spec, adjusted, self._device.block_memory)

    def _instance(self, draw: random.Random) -> str:
        if self._own and draw.random() < self._own:
            return written_slow(draw, self._folder)
        kind = draw.choice(("tsp", "tsp", "qap", "mkp"))
        source = draw.random()
        if source < 0.15:
            return f"demo/{kind}"
        published = [name for name in self._published if self.problem(name).name == kind]
        if published and source < 0.5:
            return draw.choice(published)
        return str(self._written(kind, draw))

    def _written(self, kind: str, draw: random.Random) -> Path:
        """Return the file of a synthetic instance; equal sizes give equal files."""
        if kind == "tsp":
            size = draw.choice(_CITIES)
            return self._file(f"{size}.tsp", lambda: tsplib_text(uniform_tsp(size, SEED)))
        if kind == "qap":
            side = draw.choice(_SIDES)
            return self._file(f"{side}.dat", lambda: qaplib_text(grid_qap(side, side, SEED)[0]))
        size, rows = draw.choice(_ITEMS), draw.choice(_LIMITS)
        name = f"{rows}x{size}.dat"
        return self._file(name, lambda: drake_text(correlated_mkp(size, rows, SEED)))

    def _file(self, name: str, text: Callable[[], str]) -> Path:
        path = self._folder / name
        if not path.exists():
            path.write_text(text(), encoding="utf-8")
        return path

    def _values(self, draw: random.Random, problem: Problem) -> dict[str, Any]:
        algorithm, encoding = draw.choice(fitting(problem))
        improvers = [
            name
            for name, improver in improvers_for(problem.solution_kind).items()
            if (problem.near is not None or not improver.uses_neighbours)
            and (not isinstance(problem, Model) or set(improver.moves) <= {*problem.moves})
        ]
        improves = draw.random() < 0.7 and ALGORITHMS[algorithm].improves
        improver = draw.choice(improvers) if improves else "none"
        islands = draw.randint(1, 12)
        limit = max(2, _MOST_GENES // (problem.size * islands))
        values: dict[str, Any] = {"algorithm": algorithm, "encoding": encoding}
        values |= {"improver.name": improver, "backend": self._device.name}
        values |= {"islands": islands, "population": min(limit, _log_uniform(draw, 2, 4096))}
        values |= {"seed": draw.randrange(10**6), "migration.delay": draw.randint(0, 1)}
        values["migration.topology"] = draw.choice(_choices(MigrationSettings, "topology"))
        values["migration.interval"] = _log_uniform(draw, 1, 200)
        values["checkpoint.every"] = draw.choice((0, 0.3, 60))
        values["record.every"] = _log_uniform(draw, 1, 100)
        if improver != "none" and draw.random() < 0.5:
            values["improver.steps"] = _log_uniform(draw, 1, 50_000)
        if draw.random() < _RARELY:
            values["decoding"] = draw.choice(_choices(GeneralSettings, "decoding"))
        of_algorithm = ALGORITHMS[algorithm].Settings
        if "halo" in of_algorithm.names() and draw.random() < 0.4:
            values |= {"halo": True, "migration.topology": "none", "migration.delay": 0}
        groups: list[tuple[str, type[Settings]]] = [("", of_algorithm), ("", problem.Settings)]
        groups += [("migration.", MigrationSettings)]
        groups += [("improver.", ImproverSettings)] if improver != "none" else []
        for prefix, group in groups:
            values = dict(_random_values(draw, group, prefix)) | values
        if algorithm == "tempering":
            rungs = values.get("rungs", TemperingSettings.rungs)
            values["population"] = max(rungs, values["population"] // rungs * rungs)
        return values

    def _is_there(self, name: str) -> bool:
        if "ISLANDS_INSTANCES" not in os.environ:
            return False
        try:
            self.problem(name)
        except IslandsError:
            return False
        return True


def _random_values(
    draw: random.Random, group: type[Settings], prefix: str
) -> Iterator[tuple[str, Any]]:
    """Yield a few settings of a group with random values."""
    for field in dataclasses.fields(group):  # type: ignore[arg-type]
        if draw.random() >= _RARELY or field.name == "halo":
            continue
        default, limits = field.default, field.metadata
        choices = list[str](limits["choices"] or _NAMED.get(field.name, ()))
        if choices:
            yield f"{prefix}{field.name}", draw.choice(choices)
        elif isinstance(default, bool):
            yield f"{prefix}{field.name}", not default
        elif isinstance(default, int):
            highest = min(limits["high"] or math.inf, 4 * (default + 1))
            yield f"{prefix}{field.name}", draw.randint(int(limits["low"] or 0), int(highest))
        elif isinstance(default, float):
            yield f"{prefix}{field.name}", round(default * draw.random(), 3)


def _choices(group: type[Settings], name: str) -> list[str]:
    fields = {field.name: field for field in dataclasses.fields(group)}  # type: ignore[arg-type]
    return [choice for choice in fields[name].metadata["choices"] if choice]


def _log_uniform(draw: random.Random, low: int, high: int) -> int:
    """Return an integer whose logarithm is uniformly distributed."""
    return round(math.exp(draw.uniform(math.log(low), math.log(high))))
