"""The table of default settings: each row has a condition and its values.

`SEARCHES` has the complete settings of good searches of a problem, of which `choosing.py` takes the
first that agrees with what a user has set. `SIZES` has further settings of the algorithm that was
chosen, by the problem, the time limit and the number of GPUs: nothing else determines a default.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from islands.algorithms import Algorithm
from islands.algorithms.eax import Eax
from islands.algorithms.ga import Ga
from islands.algorithms.memetic import Memetic
from islands.algorithms.tempering import Tempering
from islands.configuration.sizes import (
    Case,
    Values,
    converging_tours,
    core_sizes,
    is_small,
    learning_sizes,
    memetic_sizes,
    move_sizes,
    pair_sizes,
    rows_of_knapsacks,
    searching_sizes,
    tour_sizes,
)
from islands.problems.base import Problem
from islands.problems.mkp import Mkp
from islands.problems.qap import Qap
from islands.problems.qap_exchanges import Swaps
from islands.problems.tsp import Tsp

if TYPE_CHECKING:
    from islands.modelling.model import Model

Condition = Callable[[Problem], bool]


def own_searches(problem: Problem) -> list[Values]:
    """Return complete settings of searches of a problem, the best ones first."""
    if own := problem.defaults():
        return [own]
    row = next(row for row in SEARCHES if row.holds(problem))
    return list(row.searches(problem) if callable(row.searches) else row.searches)


def short_search(problem: Problem) -> Values | None:
    """Return the search of a run that ends when it has converged; None: one of `own_searches`."""
    if _is_qap(problem, lambda swaps, n: n < _ROUGH_FROM and swaps.choice is None):
        return {**_MEMETIC, **_SHORT, "improver.steps": _STEPS_AN_ITEM * problem.size}
    return None


def sizes(algorithm: type[Algorithm], case: Case, *, is_own: bool, is_short: bool) -> Values:
    """Return further settings of an algorithm.

    `is_own`: the run has a search of the problem's own, with all its settings. `is_short`: it ends
    when it has converged. An algorithm of a script may say its defaults itself.
    """
    problem, found = case.problem, dict[str, Any]()
    for row in SIZES:
        fits = (is_own or not row.needs_own) and (is_short or not row.needs_short)
        if fits and issubclass(algorithm, row.algorithm) and row.holds(problem):
            found |= row.values(case)
    found |= algorithm.defaults(problem, case.seconds, case.count_gpus)
    return {**found, **(algorithm.when_converged(problem) if is_short else {})}


def _is_qap(problem: Problem, holds: Callable[[Swaps, int], bool]) -> bool:
    return isinstance(problem, Qap) and holds(problem.swaps, problem.size)


def _is_model(problem: Problem, holds: Callable[[Model], bool] = lambda _: True) -> bool:
    """Return whether a script has stated a problem, for which a condition holds."""
    from islands.modelling.model import Model  # importing it takes a while

    return isinstance(problem, Model) and holds(problem)


# Quadratic assignment

_ROUGH_FROM, _FEW_ROUGH = 38, 75
"""The sizes of unstructured instances for which a memetic search is the default."""
_DOMINATED_FROM = 40
"""The smallest dominated instance for which a memetic search is the default."""
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
"""Tempering for unstructured instances: replicas near the temperature at which they freeze need
long undisturbed chains. Renewing them, and migrants, led to worse solutions. Two good solutions of
tai100a, 0.16 and 0.04 % above the best known value, have no facility at the same location, so that
crossing them keeps nothing.
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
"""Up to this size, a population converges in seconds, and begins again after 120 generations
without progress. `uniform` finds the best known values sooner there; with 100 facilities, its
children are too far from both mates. Tabu searches that become longer, up to four times, while
there is no progress are worse: on tai60a, 1 instead of 6 of 6 runs of 15 s reached the best known
value (H100).
"""
_SHORT: Values = {"islands": 1, "population": 16, "migration.topology": "none"}
"""Settings of a memetic search of few facilities that ends when it has converged. It found the best
of all costs found for 298 of 300 random instances of 20 facilities, with 19 million evaluations
each; 300 steps and a population of 20 found fewer. Ten searches of 50 steps for each facility found
the best cost for 98.9 instead of 98.4 % of 1,200 others, but QAPLIB's best known costs in 242
instead of 252 of 255 runs. Tempering needs as many evaluations, which take longer on a CPU.
"""
_STEPS_AN_ITEM = 20
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


def _is_choice(problem: Problem) -> bool:
    """Return whether tempering searches an assignment as a choice of places."""
    return _is_qap(problem, lambda swaps, n: swaps.choice is not None)


# Tours

_EAX: Values = {"algorithm": "eax"}
_VERY_FEW = 12
"""Up to this number of cities, 2-opt and Or-opt alone find the shortest tour many times."""

# Knapsacks, measured on an H200

_CORE_OF_ITEMS: Values = {"algorithm": "tempering", "encoding": "bits"}
_MANY, _FEW = 16_384, 4_096  # individuals in all
_FEWEST, _MOST, _ITEMS_AN_INDIVIDUAL = 64, 512, 6


def _repairs(problem: Problem) -> bool:
    """Return whether a knapsack repairs subsets by the utility of items."""
    return isinstance(problem, Mkp) and problem.sorts_items


def _genetic(problem: Problem) -> Values:
    """Return settings with many small populations that restart when they stop improving.

    Populations are larger and fewer for many items. Without repair, only the algorithm and the
    encoding have defaults.
    """
    assert isinstance(problem, Mkp)
    if not problem.sorts_items:
        return {"algorithm": "ga", "encoding": "bits"}
    wanted = min(max(_FEWEST, problem.size / _ITEMS_AN_INDIVIDUAL), _MOST)
    population = 1 << round(math.log2(wanted))
    return {
        "algorithm": "ga",
        "encoding": "bits",
        "islands": max(1, (_MANY if is_small(problem) else _FEW) // population),
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


# Problems of a user's own

_OF_KIND: Mapping[str, Values] = {
    "order": {
        "algorithm": "ga",
        "population": 16,
        "mutation": "mixed",
        "crossover_rate": 0.2,
        # Two migrants from each of all other islands would not fit into small populations.
        "migration.topology": "hypercube",
        "migration.interval": 50,
    },
    "subset": {"algorithm": "ga"},
    "keys": {"algorithm": "brkga"},
    "vector": {
        "algorithm": "de",
        "population": 256,
        "strategy": "current-to-pbest/1",
        "adaptation": "nearby",
        "F": 0.5,
        "Cr": 0.5,
    },
}
"""By kind of solution, for requests that exclude tempering, such as of an improver; measured with
docs/examples/compare.py."""
_BY_MOVES = ("order", "subset")
"""The kinds of solutions that tempering searches without a state."""


def _judges_moves(model: Model) -> bool:
    """Return whether tempering is good at a problem, as it can judge moves."""
    by_moves = model.solution_kind in _BY_MOVES or model.chains.has_state
    # A repair searches by itself: then, a population is as good.
    is_repaired = model.functions is not None and model.functions.repair is not None
    return by_moves and bool(model.chains.proposals) and not is_repaired


# The table


@dataclass(frozen=True)
class SearchRow:
    """Searches of the problems for which a condition holds."""

    holds: Condition
    searches: Sequence[Values] | Callable[[Problem], Sequence[Values]]
    """Complete settings, the best ones first: the others are for requests that exclude these."""


@dataclass(frozen=True)
class SizeRow:
    """Settings of an algorithm on the problems for which a condition holds."""

    algorithm: type[Algorithm]
    holds: Condition
    values: Callable[[Case], Values]
    needs_own: bool = False
    """Whether they are only for searches in `SEARCHES`."""
    needs_short: bool = False
    """Whether they are only for runs that end when they have converged."""


def _rough(fewest: int) -> Condition:
    """Return the condition of unstructured instances with at least so many facilities."""
    return lambda problem: _is_qap(problem, lambda swaps, n: n >= fewest and swaps.is_unstructured)


SEARCHES = (
    SearchRow(_is_choice, (_CHOOSING_PLACES, _CELLULAR, _MEMETIC)),
    SearchRow(
        lambda problem: _is_qap(
            problem, lambda swaps, n: n >= _DOMINATED_FROM and swaps.is_dominated
        ),
        (_MEMETIC, _TEMPERING, _CELLULAR),
    ),
    # Tempering solves small instances at once, and leads on large ones. Between, the costs of
    # unstructured instances vary too abruptly for it.
    SearchRow(_rough(_FEW_ROUGH + 1), (_FREEZING, _MEMETIC, _CELLULAR)),
    SearchRow(_rough(_ROUGH_FROM), (_ROUGH, _FREEZING, _CELLULAR)),
    SearchRow(lambda problem: isinstance(problem, Qap), (_TEMPERING, _CELLULAR, _MEMETIC)),
    SearchRow(
        lambda problem: isinstance(problem, Tsp) and problem.size <= _VERY_FEW,
        ({**_EAX, "stop": ["generations=100"]},),
    ),
    SearchRow(lambda problem: isinstance(problem, Tsp), (_EAX,)),
    SearchRow(
        lambda problem: isinstance(problem, Mkp) and problem.core is not None,
        lambda problem: (_CORE_OF_ITEMS, _genetic(problem)),
    ),
    SearchRow(lambda problem: isinstance(problem, Mkp), lambda problem: (_genetic(problem),)),
    SearchRow(
        lambda problem: _is_model(problem, _judges_moves),
        lambda problem: ({"algorithm": "tempering"}, _OF_KIND[problem.solution_kind]),
    ),
    SearchRow(_is_model, lambda problem: (_OF_KIND[problem.solution_kind],)),
    SearchRow(lambda _: True, ({"algorithm": "brkga"},)),
)
"""The first row whose condition holds counts."""

SIZES = (
    SizeRow(Tempering, lambda problem: problem.core is not None, core_sizes),
    SizeRow(
        Tempering,
        lambda problem: problem.core is None and bool(problem.chains.proposals),
        move_sizes,
    ),
    SizeRow(
        Tempering,
        lambda problem: problem.core is None and not problem.chains.proposals,
        pair_sizes,
    ),
    SizeRow(
        Tempering,
        lambda problem: _is_model(problem, lambda model: model.learns and not model.searches),
        learning_sizes,
        needs_own=True,
    ),
    SizeRow(
        Tempering,
        lambda problem: _is_model(problem, lambda model: model.searches),
        searching_sizes,
        needs_own=True,
    ),
    SizeRow(Eax, lambda _: True, tour_sizes),
    SizeRow(Eax, lambda _: True, converging_tours, needs_short=True),
    SizeRow(Memetic, lambda problem: isinstance(problem, Qap), memetic_sizes, needs_own=True),
    SizeRow(Ga, _repairs, rows_of_knapsacks, needs_own=True),
)
"""All rows whose condition holds count, the later ones above the earlier ones."""
