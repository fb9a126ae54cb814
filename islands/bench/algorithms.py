"""The throughput benchmarks of the algorithms, with the settings of published experiments."""

from __future__ import annotations

from collections.abc import Callable

from islands.bench.algorithm_rows import BrkgaRow, CellularRow, DeRow, GaRow, PsoRow
from islands.bench.eax_row import EaxRow
from islands.bench.throughput import AlgorithmBench
from islands.errors import IslandsError
from islands.instances.formats import FOUND_BY_NAME
from islands.instances.locate import find
from islands.instances.synthetic import grid_qap, uniform_tsp
from islands.problems import read
from islands.problems.base import Problem
from islands.problems.qap import Qap
from islands.problems.tsp import Tsp


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
    return published_or(name, lambda: Tsp(uniform_tsp(size, seed=1)))


def facilities(name: str, grid: tuple[int, int]) -> Problem:
    """Return the published instance, or a generated grid of its size."""
    return published_or(name, lambda: Qap(grid_qap(*grid, seed=1)[0]))


BRKGA = AlgorithmBench(
    text="""\
BRKGA with the settings of Xavier 2019: 3 islands of 256, elite and mutants 0.1, rho 0.7.

Bytes are the minimum that a generation must move: a child reads its parents' keys and writes its
own, a mutant writes, an elite individual is copied.""",
    row=BrkgaRow.of,
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
    row=DeRow.of,
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
    row=CellularRow.of,
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
    row=GaRow.of,
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
    row=PsoRow.of,
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
    settings={name: {"preset": name} for name in ("munhao2019-m1", "munhao2019-m2")},
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
    row=EaxRow.of,
    instances={"national/ja9847": 9847, "tsplib/usa13509": 13509, "national/sw24978": 24978},
    settings={"eax": {"algorithm": "eax", "islands": 1, "population": 300, "children": 30}},
    read=cities,
    warm_up=20,
    most=30,
    cpu_options={"population": 30},
)
"""Each reference value is the number of cities."""
