"""The table of default settings: each row has a condition and values.

`SEARCHES` lists complete settings of good searches for a problem; `choosing.py` selects the first
that is compatible with the request. `SIZES` lists further settings of the selected algorithm. Both
depend only on the problem, the time limit and the number of GPUs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from islands.algorithms import Algorithm
from islands.algorithms.eax import Eax
from islands.algorithms.ga import Ga
from islands.algorithms.growth import Growth
from islands.algorithms.memetic import Memetic
from islands.algorithms.tempering.algorithm import Tempering, chains_of
from islands.algorithms.tempering.chains import ReplicaChains
from islands.algorithms.tempering.core import CoreChains
from islands.algorithms.tempering.flips import FlipChains
from islands.algorithms.tempering.moves import MoveChains
from islands.algorithms.tempering.pairs import PairChains
from islands.algorithms.tempering.places import PlaceChains
from islands.algorithms.tempering.sparse import SparseChains
from islands.configuration import sizes
from islands.configuration.sizes import Case, Values
from islands.configuration.stop import CONVERGED, Criterion, criteria_of
from islands.problems.base import Problem
from islands.problems.mkp import Mkp
from islands.problems.qap import Qap
from islands.problems.tsp import Tsp

if TYPE_CHECKING:
    from islands.modelling.model import Model

Kind = TypeVar("Kind", bound=Problem)
Condition = Callable[[Problem], bool]
Searches = Sequence[Values] | Callable[[Any], Sequence[Values]]


def searches(problem: Problem, *, is_short: bool = False) -> list[Values]:
    """Return complete settings of searches for a problem, the best first.

    `is_short` is true if the run ends when the search has converged.
    """
    short = [search(problem) for holds, search in SHORT_SEARCHES if is_short and holds(problem)]
    row = next(searches for holds, searches in SEARCHES if holds(problem))
    usual: Sequence[Values] = row(problem) if callable(row) else row
    first, *others = short + list(usual)
    problem_defaults = problem.defaults()
    if problem_defaults.get("algorithm", first["algorithm"]) == first["algorithm"]:
        return [{**first, **problem_defaults}, *others]
    return [problem_defaults, first, *others]


def sizes_of(algorithm: type[Algorithm], case: Case) -> Values:
    """Return further settings of an algorithm, or of its base class if it is from a script."""
    settings = dict[str, Any]()
    for kind, holds, values in SIZES:
        if issubclass(algorithm, kind) and holds(case):
            settings |= values(case)
    return settings


STOP_OF_MANY = (CONVERGED, "seconds=10")
"""The default criteria of the runs of a batch or of `solve_many`."""


def default_stop(problem: Problem) -> list[Criterion]:
    """Return the default criteria of a run."""
    proven = problem.best_known is not None and problem.best_known.status == "optimal"
    seconds = 20 if problem.instance.startswith("demo/") else 60
    return criteria_of([*(["optimum"] if proven else []), f"seconds={seconds}"])


# Quadratic assignment

_ROUGH_FROM, _FEW_ROUGH = 38, 75
"""Sizes of the smallest and the largest unstructured instance with memetic search by default."""
_DOMINATED_FROM = 40
"""Size of the smallest instance with high flow or distance dominance that has this default."""
_RING: Values = {"migration.topology": "ring", "migration.migrants": 1}
_TEMPERING: Values = {
    "algorithm": "tempering",
    "encoding": "permutation",
    "improver.name": "none",
    "migration.interval": 100,
    **_RING,
}
_FREEZING: Values = {
    **_TEMPERING,
    "sweeps": 512,
    "patience": 0,
    "migration.topology": "none",
}
"""Tempering for unstructured instances: replicas near the freezing temperature need long
undisturbed chains. Renewing the temperature ladders, or migration, led to worse solutions. Two good
solutions of tai100a, 0.16 and 0.04 % above the best known value, have no facility at the same
location, so a crossover preserves nothing.
"""
_CHOOSING_PLACES: Values = {**_TEMPERING, "migration.topology": "none"}
_MEMETIC: Values = {
    "algorithm": "memetic",
    "encoding": "permutation",
    "improver.name": "tabu",
    "migration.interval": 20,
    "record.every": 5,
    **_RING,
}
_ROUGH: Values = {**_MEMETIC, "crossover": "uniform", "reset": 120}
"""A memetic search for unstructured instances of medium size, whose population converges in seconds
and restarts after 120 generations without progress. `uniform` reaches the best known values sooner
there; with 100 facilities, its children are too different from both parents. Lengthening the tabu
searches up to four times while there is no progress was worse: on tai60a, only 1 of 6 runs of 15 s
reached the best known value, instead of all 6 (H100).
"""
_STEPS_PER_ITEM = 20
_SHORT: Values = {**_MEMETIC, "islands": 1, "population": 16, "migration.topology": "none"}
"""Memetic search for few facilities, which ends when it has converged. It reached the lowest known
cost for 298 of 300 random instances of 20 facilities, with 19 million evaluations per instance; 300
steps and a population of 20 reached fewer. Ten searches of 50 steps per facility reached the lowest
cost for 98.9 % of 1,200 other instances, instead of 98.4 %, but QAPLIB's best known costs in 242 of
255 runs, instead of 252. Tempering needs as many evaluations, which take longer on a CPU.
"""
_CELLULAR: Values = {
    "algorithm": "cellular",
    "encoding": "permutation",
    "population": 64,
    "selection": "random",
    "crossover": "uniform",
    "group": 1,
    "replacement": "elitist",
    "improver.name": "tabu",
    "migration.interval": 10,
    "record.every": 5,
    **_RING,
}
_GROWING: Values = {
    "algorithm": "growth",
    "encoding": "permutation",
    "improver.name": "none",
    "migration.interval": 10,
    "record.every": 1,
    **_RING,
}
"""Resampled growth for sparse flows: every batch is recorded, as it may prove the optimum."""


def _short(problem: Problem) -> Values:
    return {**_SHORT, "improver.steps": _STEPS_PER_ITEM * problem.size}


# Tours

_EAX: Values = {"algorithm": "eax"}
_VERY_FEW = 12
"""The number of cities up to which 2-opt and Or-opt alone often find the shortest tour."""

# Knapsacks, measured on an H200

_CORE_OF_ITEMS: Values = {"algorithm": "tempering", "encoding": "bits"}
_MANY, _FEW = 16_384, 4_096  # individuals in total
_FEWEST, _MOST, _ITEMS_PER_INDIVIDUAL = 64, 512, 6


def _genetic(problem: Mkp) -> Values:
    """Return settings of many small populations that restart when they stop improving.

    With more items, populations are larger and fewer. Without repair, only the algorithm and the
    encoding have defaults.
    """
    if not problem.sorts_items:
        return {"algorithm": "ga", "encoding": "bits"}
    wanted = min(max(_FEWEST, problem.size / _ITEMS_PER_INDIVIDUAL), _MOST)
    population = 1 << round(math.log2(wanted))
    return {
        "algorithm": "ga",
        "encoding": "bits",
        "islands": max(1, (_MANY if sizes.is_small(problem) else _FEW) // population),
        "population": population,
        "strength": 2,
        "reset": max(500, min(problem.size, 5000)),
        "improver.name": "exchange22",
        "improver.strategy": "best",
        "improver.core": 60,
        "improver.every": 100,
        "improver.rate": 0.1,
        "migration.topology": "none",
    }


# User-defined problems

_BY_KIND: Mapping[str, Values] = {
    "order": {
        "algorithm": "ga",
        "population": 16,
        "mutation": "mixed",
        "crossover_rate": 0.2,
        # Two migrants from every other island would not fit into small populations.
        "migration.topology": "hypercube",
        "migration.interval": 50,
    },
    "subset": {"algorithm": "ga"},
    "keys": {"algorithm": "brkga"},
    "choices": {"algorithm": "ga"},
    "vector": {
        "algorithm": "de",
        "strategy": "current-to-pbest/1",
        "adaptation": "nearby",
        "F": 0.5,
        "Cr": 0.5,
    },
}
"""Settings by kind of solution, if tempering is unsuitable or an option, such as an improver,
excludes it. They were measured with docs/examples/compare.py."""
_MOVES: Values = {"algorithm": "tempering"}
_BY_MOVES = ("order", "subset", "choices")
"""The kinds of solutions that tempering can search if the problem defines no state."""


def _suits_tempering(model: Model) -> bool:
    """Return whether tempering is suitable: kernels evaluate the moves that it proposes."""
    by_moves = model.solution_kind in _BY_MOVES or model.chains.has_state
    # A repair is itself a search; with it, a population-based algorithm is just as good.
    is_repaired = model.functions is not None and model.functions.repair is not None
    return by_moves and bool(model.chains.proposals) and not is_repaired


# The table


def _on(kind: type[Kind], holds: Callable[[Kind], bool] = lambda _: True) -> Condition:
    """Return a condition: the problem is an instance of `kind` for which `holds` is true."""
    return lambda problem: isinstance(problem, kind) and holds(problem)


def _on_model(holds: Callable[[Model], bool] = lambda _: True) -> Condition:
    """Return a condition: the problem is a `Model` for which `holds` is true."""

    def is_met(problem: Problem) -> bool:
        from islands.modelling.model import Model  # importing it takes a while

        return isinstance(problem, Model) and holds(problem)

    return is_met


def _by(chains: type[ReplicaChains]) -> Callable[[Case], bool]:
    """Return a condition: tempering uses these chains, or a subclass, for the problem."""
    return lambda case: issubclass(chains_of(case.problem) or object, chains)


def _by_default(holds: Condition) -> Callable[[Case], bool]:
    """Return a condition: the run uses a default search, and `holds` is true for its problem."""
    return lambda case: case.has_defaults and holds(case.problem)


def _rough(fewest: int) -> Condition:
    """Return a condition: an unstructured instance with at least `fewest` facilities."""
    return _on(Qap, lambda qap: qap.size >= fewest and qap.swaps.is_unstructured)


SEARCHES: Sequence[tuple[Condition, Searches]] = (
    (
        _on(Qap, lambda qap: qap.swaps.suits_growth),
        (_GROWING, _TEMPERING, _CELLULAR, _MEMETIC),
    ),
    (_on(Qap, lambda qap: chains_of(qap) is SparseChains), (_TEMPERING, _CELLULAR, _MEMETIC)),
    (_on(Qap, lambda qap: qap.swaps.choice is not None), (_CHOOSING_PLACES, _CELLULAR, _MEMETIC)),
    (
        _on(Qap, lambda qap: qap.size >= _DOMINATED_FROM and qap.swaps.is_dominated),
        (_MEMETIC, _TEMPERING, _CELLULAR),
    ),
    # Tempering solves small instances immediately, and is best on large ones. In between,
    # the costs of unstructured instances vary too abruptly for it.
    (_rough(_FEW_ROUGH + 1), (_FREEZING, _MEMETIC, _CELLULAR)),
    (_rough(_ROUGH_FROM), (_ROUGH, _FREEZING, _CELLULAR)),
    (_on(Qap), (_TEMPERING, _CELLULAR, _MEMETIC)),
    (_on(Tsp, lambda tsp: tsp.size <= _VERY_FEW), ({**_EAX, "stop": ["generations=100"]},)),
    (_on(Tsp), (_EAX,)),
    (_on(Mkp, lambda mkp: mkp.core is not None), lambda mkp: (_CORE_OF_ITEMS, _genetic(mkp))),
    (_on(Mkp), lambda mkp: (_genetic(mkp),)),
    (_on_model(_suits_tempering), lambda model: (_MOVES, _BY_KIND[model.solution_kind])),
    (_on_model(), lambda model: (_BY_KIND[model.solution_kind],)),
    (lambda problem: True, ({"algorithm": "brkga"},)),
)
"""Conditions on problems, and complete settings of searches, the best first; the others are for
requests that exclude the best. The first row whose condition holds applies."""

SHORT_SEARCHES: Sequence[tuple[Condition, Callable[[Problem], Values]]] = (
    (_on(Qap, lambda qap: qap.size < _ROUGH_FROM and qap.swaps.choice is None), _short),
)
"""Searches that are better than those above in runs that end when the search has converged."""

SIZES: Sequence[tuple[type[Algorithm], Callable[[Case], bool], Callable[[Case], Values]]] = (
    (Algorithm, lambda case: case.problem.evaluation.python is not None, sizes.of_calls),
    (Tempering, _by(CoreChains), sizes.of_core),
    (Tempering, _by(FlipChains), sizes.of_flips),
    (Tempering, _by(MoveChains), sizes.of_moves),
    (Tempering, _by(PlaceChains), sizes.of_places),
    (Tempering, _by(PairChains), sizes.of_pairs),
    (Tempering, _by(SparseChains), sizes.of_sparse_flows),
    (Eax, lambda case: True, sizes.of_tours),
    (Growth, lambda case: True, sizes.of_growth),
    (Tempering, _by_default(_on_model(lambda model: model.learns)), sizes.of_learning),
    (Tempering, _by_default(_on_model(lambda model: model.searches)), sizes.of_searching),
    (Memetic, _by_default(_on(Qap)), sizes.of_memetic),
    (Ga, _by_default(_on(Mkp, lambda mkp: mkp.sorts_items)), sizes.of_knapsack_rows),
    (Eax, lambda case: case.is_short, sizes.of_converging_tours),
)
"""Further settings of algorithms. All rows whose condition holds apply; later rows win."""
