"""The throughput benchmarks of the algorithms, which `algorithms.toml` describes."""

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
        instance = find(name)
        instance.file()
    except IslandsError:
        return generated()
    return read(instance)


def cities(name: str, size: int) -> Problem:
    """Return the published instance, or random cities of its size."""

    def generated() -> Problem:
        places = uniform(size, seed=1).astype(np.float64)
        return Tsp(TspFile(f"uniform{size}", None, size, "EUC_2D", places))

    return published_or(name, generated)


def facilities(name: str, grid: tuple[int, int]) -> Problem:
    """Return the published instance, or random flows between places on a grid."""

    def generated() -> Problem:
        n = math.prod(grid)
        flows = np.triu(random_numbers(n * n, seed=1).reshape(n, n) % 10, 1)
        places = np.stack(np.divmod(np.arange(n), grid[1]), axis=1)
        distances = np.abs(places[:, np.newaxis] - places).sum(axis=2)
        return Qap(QapFile(f"grid{n}", None, n, flows + flows.T, distances))

    return published_or(name, generated)


def _brkga(row: Throughput) -> Brkga:
    assert isinstance(row.spec.settings, BrkgaSettings)
    return Brkga(row.spec.settings, row.spec.general.population)


def _keys(row: Throughput) -> float:
    """Return the number of keys that a generation of BRKGA creates."""
    general = row.spec.general
    return general.islands * (general.population - _brkga(row).elite) * row.problem.size


def _bytes(row: Throughput) -> float:
    """Return the minimum number of bytes that a generation of BRKGA moves."""
    general, algorithm = row.spec.general, _brkga(row)
    children = general.population - algorithm.elite - algorithm.mutants
    moved = children * (algorithm.settings.parents + 1) + algorithm.mutants + 2 * algorithm.elite
    return float(general.islands * moved * row.problem.size * _KEY_BYTES)


def _speedup(row: Throughput) -> float:
    """Return the speedup over the published time of a run, which may depend on the setting."""
    published = row.reference
    if isinstance(published, Mapping):
        published = published[row.setting]
    return float(published) / row.seconds_a_run


_COLUMNS: Mapping[str, Callable[[Throughput], Any]] = {
    "short_instance": lambda row: row.problem.instance.rpartition("/")[2],
    "microseconds": lambda row: 1000 * row.milliseconds,
    "evaluations_per_second": lambda row: row.per_second(row.evaluations),
    "generations_per_second": lambda row: row.per_second(row.runs),
    "keys_per_second": lambda row: row.per_second(_keys(row)),
    "bytes_per_second": lambda row: row.per_second(_bytes(row)),
    "copy_bytes_per_second": lambda row: copy_bandwidth(row.backend),
    "share_of_copy": lambda row: row.per_second(_bytes(row)) / copy_bandwidth(row.backend),
    "individuals": lambda row: row.spec.general.islands * row.spec.general.population,
    "speedup": _speedup,
}


def _bench(
    name: str, read: Callable[[str, Any], Problem] = lambda name, _: loaded(name)
) -> AlgorithmBench:
    """Return a benchmark; `read` creates the problem from a name and a reference value."""
    others = {key: value for key, value in described(_FILE)[name].items() if key != "columns"}
    return AlgorithmBench(read=read, table=table(_FILE, name, **_COLUMNS), **others)


BRKGA, EAX = _bench("brkga", cities), _bench("eax", cities)
DE = _bench("de", facilities)
CELLULAR, GA, PSO = map(_bench, ("cellular", "ga", "pso"))
