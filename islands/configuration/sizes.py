"""The sizes of searches: their islands, populations and work, by problem, time limit and GPUs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from islands.algorithms.eax import FEW_CITIES, NARROW
from islands.algorithms.tempering.core import CoreChains
from islands.algorithms.tempering.moves import MoveChains
from islands.algorithms.tempering.settings import MOVES
from islands.backends import is_gpu
from islands.configuration.spec import GeneralSettings
from islands.parallel import launched
from islands.problems.base import Problem
from islands.problems.mkp import Mkp

Values = Mapping[str, Any]
"""Settings by name."""
GPUS = "sized_for_gpus"


@dataclass(frozen=True)
class Case:
    """Everything that the sizes of a run depend on."""

    problem: Problem
    seconds: float
    """The time limit, within which a population of tours should converge."""
    given: Mapping[str, Any]
    """The requested settings by name, of which only the backend and the number of GPUs matter."""
    has_defaults: bool = False
    """Whether the run has the settings of a search from the table of defaults."""
    is_short: bool = False
    """Whether the run ends when the search has converged."""

    @cached_property
    def gpus(self) -> int:
        """The number of GPUs of the run, 0 for CPUs; detecting them may take a while."""
        if not is_gpu(str(self.given.get("backend", "auto"))):
            return 0
        return GeneralSettings.converted(GPUS, self.given.get(GPUS, 0)) or launched()[1]


# Quadratic assignment

_DOMINATED_SIZES = {"population": 66, "improver.steps": 1000}
_FEW_DOMINATED = 100
_GPU_SIZES = {"population": 1056, "improver.steps": 2000}
_CPU_SIZES = {"population": 66, "improver.steps": 500}


def of_memetic(case: Case) -> Values:
    """Return the islands, the population and the steps of tabu search of a memetic search.

    Many short searches in one large population were better than fewer long ones, and better than
    several islands (docs/measured).
    """
    n, swaps = case.problem.size, case.problem.swaps
    if swaps is not None and swaps.is_dominated:
        many = {"population": 132, "improver.steps": 2 * n}
        return {"islands": 4, **(many if n > _FEW_DOMINATED else _DOMINATED_SIZES)}
    return {"islands": 1, **(_GPU_SIZES if case.gpus else _CPU_SIZES)}


_FEW_FACILITIES = 110  # up to which several replicas share a multiprocessor
_MANY_FACILITIES = 300  # from which deltas are kept between generations


def of_places(case: Case) -> Values:
    """Return sizes for tempering that chooses some of n places; each descent takes few sweeps.

    A block needs little memory, so many replicas share a multiprocessor.
    """
    sizes = {"islands": 88 if case.gpus else 1, "population": 24}
    return {**sizes, "sweeps": 4, "descent": 1, "reset": 600}


def of_pairs(case: Case) -> Values:
    """Return sizes for tempering by exchanges of pairs.

    On a GPU, there are about as many replicas as run concurrently; on a CPU, so few that they cool
    down within about a second, or within ten seconds if there are many items.
    """
    if case.gpus:
        return {"islands": 8, "population": 64 if case.problem.size <= _FEW_FACILITIES else 16}
    if case.problem.size >= _MANY_FACILITIES:
        return {"islands": 1, "population": 8, "tuning": 10, "record.every": 5}
    return {"islands": 4, "population": 8}


def of_sparse_flows(case: Case) -> Values:
    """Return sizes for tempering with sparse flows: few sweeps, as a single one takes a second."""
    return {**of_pairs(case), "sweeps": 2}


_BATCHES, _BATCHES_WITHOUT_METRIC = 4, 48
"""Generations of growth before annealing begins, with and without metric distances. With 4, one of
three grids of 144 with 2 % false neighbours was solved; growth alone solved two in this time."""


def of_growth(case: Case) -> Values:
    """Return sizes for resampled growth; on a GPU, a block grows the batch of an island."""
    swaps = case.problem.swaps
    is_metric = swaps is not None and swaps.sparse is not None and swaps.sparse.is_metric
    sizes = {"islands": 128 if case.gpus else 4, "population": 48}
    return {**sizes, "batches": _BATCHES if is_metric else _BATCHES_WITHOUT_METRIC}


# Tours

_HASTY = {"first_tours": "greedy"}
_CPU = (0.002, 30, 30)
"""The seconds per individual until 1,000 cities converge, on two CPU threads; the minimum numbers
of individuals and children."""
_CPU_DIRECTED = (0.0114, 30, 30)
"""The same for directed tours of 500 cities, which have 1,000 nodes: 700 individuals took 8 s."""
_GROWTH, _GROWTH_DIRECTED = 1.5, 2.0
"""The exponents of the number of nodes in this time; directed first tours take longer to build."""
_SPREAD_DIRECTED = 2.0
"""The spread of directed first tours: with 0.5, one of five runs of 500 cities at random distances
ended 0.2 % above the best known tour, with 2 none."""
_GPU = (0.00004, 100, 60)
_MOST, _MOST_ON_CPU = 1000, 300
"""The maximum population of tours. For symmetric tours on a CPU, it is 300, or a tenth of the
number of cities if this is more."""
_FEW_NODES = 200
"""Maximum number of nodes for which directed tours have several small islands; for symmetric tours,
it is `FEW_CITIES`. The first directed tours are longer, and one large population was better for 200
cities at random distances."""
_WIDE = 4.0
"""The factor by which more than 65,536 cities are slower on a GPU, as its fast memory is too small
for them."""
_MOST_CHILDREN, _CITIES_PER_CHILD = 120, 150
_GAIN = 0.7
"""The exponent of the number of GPUs in the speedup of convergence."""
_SHARE = 0.7
"""The share of the time limit in which a population should converge."""
_SHORT_TOUR, _CHILDREN_OF_SHORT, _CHILDREN_OF_LONG = 200, 10, 20
"""The length of a short tour, and the children of a pair of short and of long tours, in a run that
ends when the search has converged. Short tours have few AB-cycles."""
_CONVERGING = {"islands": 1, "first_tours": "nearest", "spread": 1.0, "restart": False}
"""Settings for few cities in a run that ends when the search has converged. On a CPU, one large
population was better than several small ones in the same time. Of 384 runs (64 instances of
TSPLIB), 383 reached the optimum, 377 with spread=0.5 and 380 with first_tours=mixed; 10 generations
of 160 tours of 100 cities took 30 milliseconds, and 36 with first_tours=mixed.
"""
_FEWEST_CONVERGING, _MOST_CONVERGING = 60, 300  # individuals; in between, 1.2 per city


def of_tours(case: Case) -> Values:
    """Return eight small islands for few cities, otherwise one population of a suitable size.

    A suitable population converges within the time limit. If even the smallest one takes longer, or
    if there are very many cities, first tours are greedy: short tours then matter more than diverse
    ones, and nearest-neighbour tours of very many cities are slow. Many cities have many AB-cycles,
    so more children are worth their time.
    """
    near = case.problem.near
    is_directed = near is not None and near.is_directed
    size = case.problem.size if near is None else near.nodes
    varied = {"spread": _SPREAD_DIRECTED} if is_directed else {}
    if size <= (_FEW_NODES if is_directed else FEW_CITIES):
        return {"islands": 8, "population": 50, **varied}
    gpus = case.gpus
    per_individual, fewest, children = _GPU if gpus else _CPU_DIRECTED if is_directed else _CPU
    growth = _GROWTH_DIRECTED if is_directed else _GROWTH
    seconds = per_individual * max(1.0, size / 1000) ** growth
    if gpus and size > NARROW:
        seconds *= _WIDE
    children = min(_MOST_CHILDREN, max(children, size // _CITIES_PER_CHILD // 10 * 10))
    most = _MOST
    if not gpus and not is_directed:
        most = min(_MOST, max(_MOST_ON_CPU, size // 100 * 10))
    seconds /= max(1, gpus) ** _GAIN  # per individual
    population = int(_SHARE * case.seconds / seconds) // 10 * 10
    is_short = population < fewest or size > NARROW
    return {
        "islands": 1,
        "population": min(most, max(fewest, population)),
        "children": children,
        **varied,
        **(_HASTY if is_short else {}),
    }


def of_converging_tours(case: Case) -> Values:
    """Return settings of a run that ends when its only population has converged."""
    near = case.problem.near
    size = case.problem.size if near is None else near.nodes
    if size > FEW_CITIES:
        return {"restart": False}
    population = min(_MOST_CONVERGING, max(_FEWEST_CONVERGING, size * 6 // 50 * 10))
    children = _CHILDREN_OF_SHORT if size <= _SHORT_TOUR else _CHILDREN_OF_LONG
    return {**_CONVERGING, "population": population, "children": children}


# Knapsacks, measured on an H200

_SMALL = 15_000  # weights; with more, a generation of many individuals takes too long
_EVERY_SMALL, _EVERY_LARGE = (10, 500), (2, 100)  # generations between rows, on CPUs and on GPUs
_PROPOSALS, _PROPOSALS_PER_ITEM = 300_000, 3_000
_CORE = {
    "rungs": CoreChains.rungs,
    "population": 16,
    "tuning": 24,
    "patience": 20,
    "record.every": 5,
    "migration.topology": "ring",
}


def is_small(problem: Mkp) -> bool:
    """Return whether a generation of many individuals is fast."""
    return problem.size * problem.constraints <= _SMALL


def of_knapsack_rows(case: Case) -> Values:
    """Return the generations between rows of the trace, which take a similar time on all devices.

    For a row, the host inspects all islands, and ranks wait for each other.
    """
    assert isinstance(case.problem, Mkp)
    cpu, gpu = _EVERY_SMALL if is_small(case.problem) else _EVERY_LARGE
    return {"record.every": gpu if case.gpus else cpu}


def of_core(case: Case) -> Values:
    """Return sizes for tempering of a core of items; a GPU runs almost all replicas at once."""
    proposals = min(_PROPOSALS, _PROPOSALS_PER_ITEM * case.problem.size)
    return {"islands": 128 if case.gpus else 1, "proposals": proposals, **_CORE}


# User-defined problems

_CALLED: Mapping[str, Values] = {
    "function": {"islands": 1, "population": 32, "record.every": 1},
    "batch": {"islands": 2, "population": 64},
}
"""The sizes of all searches with a cost in Python: a function is rarely called more than several
thousand times, and a batch function several hundred thousand times. With a row of the trace for
every generation, a callback sees every generation."""
_MOVING = {
    "rungs": MoveChains.rungs,
    "tuning": 48,
    "cycle": 100,
    "migration.topology": "ring",
    "migration.interval": 100,
    "migration.migrants": 1,
}
_MANY_TO_MOVE = 500
"""The number of items from which a CPU has one island, as chains need many moves. Fewer items
benefit from migration: after 5 to 8 million evaluations, four islands were 0.3 to 0.5 % better on
la25 and on a flow shop of 50 jobs; after only 450,000, they were 0.5 and 1.2 % worse on the cuts of
G1 and G22."""
_FEW_TO_MOVE = {"cost": 4, "batch": 2, "function": 1}
"""The number of islands on a CPU for fewer items, by how the cost is given: a function is slow."""
_MOVES_OF_CALLS = 100
"""Proposals of a replica per generation if a function is called for every proposal: temperatures
change between generations. After 1,000 calls, costs were 9 % (tardiness of 100 jobs) and 2 % (flow
shop of 50 jobs) lower than with 400; after 10,000, 2 % higher and 1 % lower. From
docs/examples/calls.py."""
_MOVES_PER_ITEM, _MOST_MOVES = 40, 1_000_000
"""Proposals of a replica per generation and item, if there is a state, which is prepared in every
generation: this takes as long as many moves."""
_STEPS_PER_ITEM_GPU = 2
"""The same for steps that a state proposes, on a GPU, where a chain of a job shop is a tenth as
fast. With annealing, dmu46, dmu67, ta34js and ta49js were on average 3.6 % from the best known
values after eight seconds on an H200; with 4 steps, this was 4.3 %, with 8 steps 4.6 %."""
_PATIENCE_CROSS = 10
"""Generations without improvement before a ladder is renewed by a crossover of the problem, on a
CPU; on a GPU, more generations, which have fewer proposals. Random graphs of 500 nodes needed 49 or
50 colours with 5, 10 and 20."""
_SWEEPS, _MOST_FLIPS = 100, 2_000_000
"""Sweeps per generation of tempering by flips, and the maximum number of proposals, with which
100,000 items cool down within a minute."""
_LEARNT_PER_ITEM, _MOST_LEARNT = 600, 1_000_000
"""Moves per item in a generation of a state that learns, and the maximum number of moves. On
scpcyc08, covers cost 347 after a million evaluations with 40 moves per item, and 343 with 600."""
_LEARNT_PER_ITEM_GPU, _MOST_LEARNT_GPU = 60, 100_000
"""The same on a GPU, where a chain is a tenth as fast."""
_SEARCHING = {
    "descent": 1,
    "rungs": 2,
    "coldest": 1.0,
    "hottest": 1.0,
    "cycle": 0,
    "reset": 60,
    "migration.interval": 10,
}
"""The settings for a state that searches by itself, with a child every two generations. The
temperatures have no effect, as all steps are accepted."""
_SEARCHED_PER_ITEM, _MOST_SEARCHED, _MANY_TO_SEARCH = 10, 6_000, 500
"""Steps per item in a generation of such a search, and the maximum number of steps; the number of
items from which a CPU has one island. After 1.7 million steps, a job shop of 1,000 operations
(dmu80) was 7.3 % from the best known value with 4 individuals, 8.7 % with 8, and 7.8 % with 2. For
200 operations (la27), the gaps after 6 million steps were 0.2, 0.6 and 1.1 %."""


def of_calls(case: Case) -> Values:
    """Return sizes for a cost in Python."""
    return _CALLED.get(case.problem.evaluation.argument, {})


def of_moves(case: Case) -> Values:
    """Return sizes for tempering by moves that kernels evaluate."""
    problem = case.problem
    # Costs in Python take most of the time, also with a GPU.
    is_many = problem.evaluation.python is None and case.gpus > 0
    few = _FEW_TO_MOVE[problem.evaluation.argument] if problem.size < _MANY_TO_MOVE else 1
    sizes: dict[str, Any] = {"islands": 16 if is_many else few, "population": 16 if is_many else 2}
    sizes |= _MOVING
    has_slow_steps = is_many and problem.chains.has_steps
    per_item = _STEPS_PER_ITEM_GPU if has_slow_steps else _MOVES_PER_ITEM
    if problem.chains.has_state:
        sizes["proposals"] = min(_MOST_MOVES, max(MOVES, per_item * problem.size))
    if problem.evaluation.argument == "function":
        sizes["proposals"] = _MOVES_OF_CALLS
    if problem.chains.has_cross:
        sizes["patience"] = _PATIENCE_CROSS * _MOVES_PER_ITEM // per_item
    return sizes


def of_flips(case: Case) -> Values:
    """Return sizes for tempering by flips: few replicas, which cool down slowly."""
    return {
        **_MOVING,
        **({"islands": 16, "population": 16} if case.gpus else {"islands": 1, "population": 2}),
        "proposals": max(case.problem.size, min(_MOST_FLIPS, _SWEEPS * case.problem.size)),
        "tuning": 30,
        "patience": 0,
    }


def of_learning(case: Case) -> Values:
    """Return longer generations for a state that learns, as it starts anew in every generation."""
    per_item, most = _LEARNT_PER_ITEM, _MOST_LEARNT
    if case.gpus:
        per_item, most = _LEARNT_PER_ITEM_GPU, _MOST_LEARNT_GPU
    return {"proposals": max(MOVES, min(most, per_item * case.problem.size))}


def of_searching(case: Case) -> Values:
    """Return sizes for a state that accepts all its steps until the next child."""
    size = case.problem.size
    steps = min(_MOST_SEARCHED, max(MOVES, _SEARCHED_PER_ITEM * size))
    few = {"islands": 2 if size < _MANY_TO_SEARCH else 1, "population": 4}
    many = {"islands": 16, "population": 16}
    return {**_SEARCHING, **(many if case.gpus else few), "proposals": steps}
