"""The throughput benchmarks of the algorithms, with the settings of published experiments."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from islands.algorithms.brkga import Brkga, BrkgaSettings
from islands.errors import IslandsError
from islands.instances.dimacs import random_numbers, uniform
from islands.instances.formats import FOUND_BY_NAME
from islands.instances.locate import find
from islands.instances.qaplib import QapFile
from islands.instances.tsplib import TspFile
from islands.problems import read
from islands.problems.base import Problem
from islands.problems.qap import Qap
from islands.problems.tsp import Tsp
from islands.studies.bench.throughput import AlgorithmBench, Throughput, copy_bandwidth
from islands.tables import Column, Table
from islands.text import count

_KEY_BYTES = 4
_CELLULAR_GENERATIONS = 5000
_PSO_GENERATIONS = 600
_PSO_PRESETS = ("munhao2019-m1", "munhao2019-m2")


def published_or(name: str, generated: Callable[[], Problem]) -> Problem:
    """Return the published instance, or a generated one if its file is missing."""
    try:
        found = find(name, FOUND_BY_NAME)
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


_DEVICE = Column("device", "device", 17, "<.17", lambda found: found.backend.device)
_INSTANCE = Column("instance", "instance", 18, "<", lambda found: found.problem.instance)
_SHORT_INSTANCE = Column(
    "instance", "instance", 12, "<", lambda found: found.problem.instance.rpartition("/")[2]
)
_CITIES, _ITEMS = (
    Column("size", title, 7, value=lambda found: found.problem.size)
    for title in ("cities", "items")
)
_RUNS = Column("runs", "runs")
_GENERATIONS, _COST = Column("generations"), Column("cost")
_MILLISECONDS = Column("milliseconds", "ms/generation", form=".4f")
_MICROSECONDS = Column(
    "microseconds", "us/generation", 0, ".2f", lambda found: 1000 * found.milliseconds
)
_SPREAD = Column("spread", "spread", form=".1%")


def _rate(name: str, title: str, a_generation: Callable[[Throughput], float]) -> Column:
    """Return a column of what a generation does, per second."""
    return Column(name, title, 8, count, lambda found: found.per_second(a_generation(found)))


_EVALUATIONS = _rate("evaluations_per_second", "evaluations/s", lambda found: found.evaluations)
"""Including those of the improver."""
_CHILDREN = _rate("children_per_second", "children/s", lambda found: found.evaluations)


def _run_columns(generations: int, published: Callable[[Throughput], float]) -> tuple[Column, ...]:
    """Return the seconds of `generations` of one of the runs, and the published ones over them."""

    def seconds(found: Throughput) -> float:
        return generations * found.milliseconds / 1000 / found.runs

    return (
        Column("seconds_a_run", f"s/run of {generations}", form=".4f", value=seconds),
        Column("speedup", "paper/this", 0, ".1f", lambda found: published(found) / seconds(found)),
    )


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


def _of_copy(found: Throughput) -> float:
    return found.per_second(_bytes(found)) / copy_bandwidth(found.backend)


def _individuals(found: Throughput) -> int:
    return found.spec.general.islands * found.spec.general.population


BRKGA = AlgorithmBench(
    text="""\
BRKGA with the settings of Xavier 2019: 3 islands of 256, elite and mutants 0.1, rho 0.7.

Bytes are the minimum that a generation must move: a child reads its parents' keys and writes its
own, a mutant writes, an elite individual is copied.""",
    table=Table(
        "brkga",
        (
            *(_DEVICE, _INSTANCE, _CITIES, _GENERATIONS, _MILLISECONDS, _SPREAD),
            _rate("keys_per_second", "keys/s", _keys),
            _rate("bytes_per_second", "bytes/s", _bytes),
            Column("copy_bytes_per_second", value=lambda found: copy_bandwidth(found.backend)),
            Column("share_of_copy", "of copy", 0, ".1%", _of_copy),
            _COST,
        ),
    ),
    instances={
        "national/zi929": 929,
        "national/mu1979": 1979,
        "national/ca4663": 4663,
        "national/fi10639": 10639,
        "national/sw24978": 24978,
    },
    settings={"xavier2019": {"preset": "xavier2019"}},
    read=cities,
)
"""Each reference value is the number of cities."""

DE = AlgorithmBench(
    text="""\
Differential evolution with the settings of Jardim 2021, experiment A: one run, ten concurrent runs.

The CPU uses one thread unless more are requested.""",
    table=Table(
        "de",
        (
            *(_DEVICE, _INSTANCE, _ITEMS, _RUNS, _GENERATIONS, _MICROSECONDS, _SPREAD),
            _rate("generations_per_second", "generations/s", lambda found: found.runs),
            *(_EVALUATIONS, _COST),
        ),
    ),
    instances={
        "qaplib/chr12c": (3, 4),
        "qaplib/bur26a": (2, 13),
        "qaplib/ste36a": (6, 6),
        "qaplib/sko56": (7, 8),
        "qaplib/wil100": (10, 10),
        "qaplib/esc128": (8, 16),
        "qaplib/tho150": (10, 15),
        "qaplib/tai256c": (16, 16),
    },
    settings={"jardim2021-a": {"preset": "jardim2021-a"}},
    read=facilities,
    runs={"cuda": (1, 10), "cpu": (1,)},
    seconds={"cpu": 1.0},
    threads=1,
)
"""Each reference value is the grid of the instance that replaces a missing one."""

CELLULAR = AlgorithmBench(
    text="""\
The cellular algorithm with the settings of Soca et al. 2010: ten concurrent runs of 2048.

Times are compared with those of one run on the paper's GPU; the ten runs here share their time.""",
    table=Table(
        "cellular",
        (
            *(_DEVICE, _SHORT_INSTANCE, _ITEMS, _RUNS, _GENERATIONS, _MILLISECONDS, _SPREAD),
            _EVALUATIONS,
            *_run_columns(_CELLULAR_GENERATIONS, lambda found: float(found.reference)),
        ),
    ),
    instances={
        "qaplib/chr12a": 2.559,
        "qaplib/had14": 3.444,
        "qaplib/chr18a": 6.092,
        "qaplib/chr20a": 7.853,
        "qaplib/bur26a": 16.961,
        "qaplib/lipa30a": 21.599,
        "qaplib/lipa40a": 46.852,
        "qaplib/lipa50b": 91.429,
    },
    settings={"soca2010": {"preset": "soca2010"}},
    runs={"cuda": (10,), "cpu": (1,)},
    warm_up=10,
)
"""Each reference value is the seconds of 5000 generations on the paper's GeForce 9800 GTX+."""

GA = AlgorithmBench(
    text="""\
The genetic algorithm on knapsacks, generational and steady-state.

The first uses the settings of Dantas and Cáceres 2014, 8 islands of 512; the second uses many small
islands and repairs children.""",
    table=Table(
        "ga",
        (
            *(_DEVICE, _SHORT_INSTANCE),
            Column("items", "items", 7, value=lambda found: found.problem.size),
            Column("constraints", "limits", 7, value=lambda found: found.problem.constraints),
            Column("setting", "setting", 10, "<"),
            Column("individuals", "individuals", value=_individuals),
            *(_GENERATIONS, _MILLISECONDS, _SPREAD, _CHILDREN),
        ),
    ),
    instances={"orlib/mknapcb1-00": None, "orlib/mknapcb3-00": None, "orlib/mknapcb9-00": None},
    settings={
        "dantas2014": {"preset": "dantas2014-cuda", "migration": "none"},
        "steady": {
            "algorithm": "ga",
            "encoding": "bits",
            "infeasible": "repair",
            "population": 64,
            "islands": 1024,
            "improver": "none",
            "migration": "none",
        },
    },
    cpu_options={"islands": 8},
)
"""5 x 100, 5 x 500 and 30 x 500, constraints by items."""

PSO = AlgorithmBench(
    text="""\
The particle swarm with the settings of Munhao et al. 2019: thirty concurrent runs of 512.

Times are compared with those of one run on the paper's GPU; the runs here share their time.""",
    table=Table(
        "pso",
        (
            _DEVICE,
            Column("preset", "preset", 14, "<", lambda found: found.setting),
            *(_INSTANCE, _ITEMS, _RUNS, _GENERATIONS, _MILLISECONDS, _SPREAD, _EVALUATIONS),
            *_run_columns(
                _PSO_GENERATIONS, lambda found: found.reference[_PSO_PRESETS.index(found.setting)]
            ),
        ),
    ),
    instances={
        "sac94/pet2": (0.1032, 0.102367),
        "sac94/weing1": (0.1850445, 0.1851833),
        "sac94/pb6": (0.374567, 0.3748),
        "orlib/mknapcb1-00": (0.6066667, 0.60642),
        "orlib/mknapcb3-00": (3.089326, 3.089647),
        "orlib/mknapcb9-00": (5.487423, 5.488282),
        "gk/gk04": (1.9279, 1.9228),
        "gk/gk09": (15.5769, 15.7122),
        "gk/gk11": (64.1039, 64.2207),
    },
    settings={name: {"preset": name} for name in _PSO_PRESETS},
    runs={"cuda": (30,), "cpu": (1,)},
    seconds={"cuda": 0.5, "cpu": 0.5},
    warm_up=10,
    threads=1,
)
"""Each reference value is the seconds of a run of either preset on the paper's GTX 1050 Ti."""

EAX = AlgorithmBench(
    text="""\
Edge assembly crossover: one island of 300 tours, 30 on the CPU, with 30 children of each pair.

Generations follow the first 20. They take longer in the second phase, which is not measured.""",
    table=Table(
        "eax",
        (
            *(_DEVICE, _INSTANCE, _CITIES),
            Column("tours", "tours", value=lambda found: found.spec.general.population),
            *(_GENERATIONS, _MICROSECONDS, _SPREAD, _CHILDREN, _COST),
        ),
    ),
    instances={"national/ja9847": 9847, "tsplib/usa13509": 13509, "national/sw24978": 24978},
    settings={"eax": {"algorithm": "eax", "islands": 1, "population": 300, "children": 30}},
    read=cities,
    warm_up=20,
    most=30,
    cpu_options={"population": 30},
)
"""Each reference value is the number of cities."""
