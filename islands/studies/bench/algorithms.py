"""The throughput benchmarks of the algorithms, which `algorithms.toml` describes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from islands.algorithms.brkga import Brkga, BrkgaSettings
from islands.errors import IslandsError
from islands.instances.dimacs import random_numbers, uniform
from islands.instances.locate import find
from islands.instances.qaplib import QapFile
from islands.instances.tsplib import TspFile
from islands.problems import loaded, read
from islands.problems.base import Problem
from islands.problems.qap import Qap
from islands.problems.tsp import Tsp
from islands.studies.bench.throughput import AlgorithmBench, Throughput, copy_bandwidth
from islands.studies.described import described, table

_FILE = Path(__file__).with_suffix(".toml")
_KEY_BYTES = 4


def published_or(name: str, generated: Callable[[], Problem]) -> Problem:
    """Return the published instance, or a generated one if its file is missing."""
    try:
        found = find(name)
        found.file()
    except IslandsError:
        return generated()
    return read(found)


def cities(name: str, size: int) -> Problem:
    """Return the published instance, or random cities of its size."""

    def made() -> Problem:
        places = uniform(size, seed=1).astype(np.float64)
        return Tsp(TspFile(f"uniform{size}", None, size, "EUC_2D", places))

    return published_or(name, made)


def facilities(name: str, grid: tuple[int, int]) -> Problem:
    """Return the published instance, or random flows between the places of a grid."""

    def made() -> Problem:
        n = math.prod(grid)
        flows = np.triu(random_numbers(n * n, seed=1).reshape(n, n) % 10, 1)
        places = np.stack(np.divmod(np.arange(n), grid[1]), axis=1)
        distances = np.abs(places[:, np.newaxis] - places).sum(axis=2)
        return Qap(QapFile(f"grid{n}", None, n, flows + flows.T, distances))

    return published_or(name, made)


def _brkga(found: Throughput) -> Brkga:
    assert isinstance(found.spec.settings, BrkgaSettings)
    return Brkga(found.spec.settings, found.spec.general.population)


def _keys(found: Throughput) -> float:
    """Return the keys that a generation of BRKGA makes."""
    general = found.spec.general
    return general.islands * (general.population - _brkga(found).elite) * found.problem.size


def _bytes(found: Throughput) -> float:
    """Return the minimum of bytes that a generation of BRKGA moves."""
    general, algorithm = found.spec.general, _brkga(found)
    children = general.population - algorithm.elite - algorithm.mutants
    moved = children * (algorithm.settings.parents + 1) + algorithm.mutants + 2 * algorithm.elite
    return float(general.islands * moved * found.problem.size * _KEY_BYTES)


def _speedup(found: Throughput) -> float:
    """Return the published seconds of a run over ours; some are stated for each of the settings."""
    published = found.reference
    if isinstance(published, Mapping):
        published = published[found.setting]
    return float(published) / found.seconds_a_run


_COLUMNS: Mapping[str, Callable[[Throughput], Any]] = {
    "short_instance": lambda found: found.problem.instance.rpartition("/")[2],
    "microseconds": lambda found: 1000 * found.milliseconds,
    "evaluations_per_second": lambda found: found.per_second(found.evaluations),
    "generations_per_second": lambda found: found.per_second(found.runs),
    "keys_per_second": lambda found: found.per_second(_keys(found)),
    "bytes_per_second": lambda found: found.per_second(_bytes(found)),
    "copy_bytes_per_second": lambda found: copy_bandwidth(found.backend),
    "share_of_copy": lambda found: found.per_second(_bytes(found)) / copy_bandwidth(found.backend),
    "individuals": lambda found: found.spec.general.islands * found.spec.general.population,
    "speedup": _speedup,
}


def _bench(
    name: str, read: Callable[[str, Any], Problem] = lambda name, _: loaded(name)
) -> AlgorithmBench:
    """Return a benchmark, which reads an instance from its name and its reference value."""
    others = {key: each for key, each in described(_FILE)[name].items() if key != "columns"}
    return AlgorithmBench(read=read, table=table(_FILE, name, **_COLUMNS), **others)


BRKGA, EAX = _bench("brkga", cities), _bench("eax", cities)
DE = _bench("de", facilities)
CELLULAR, GA, PSO = map(_bench, ("cellular", "ga", "pso"))
