"""Local search on all devices compared with plain Python that uses full evaluations."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from colonies_for_tests import begun
from emulated_gpu import EmulatedGpu
from numpy_improvers import MOVES, ImprovedBrkga, NumpyLocalSearch, assert_same
from numpy_islands import evolve_together
from problems_for_tests import cities, facilities

import islands
from islands.backends.base import Backend
from islands.problems.base import Problem


def directed(n: int) -> Problem:
    """Return tours whose lengths depend on the direction."""
    return islands.tsp(distances=np.random.default_rng(7).integers(1, 100, (n, n)))


BRKGA: dict[str, Any] = {"population": 10, "islands": 2, "seed": 5}

PROBLEMS: dict[str, Callable[[int], Problem]] = {
    "tsp": cities,
    "tsp-matrix": lambda n: cities(n, "GEO"),
    "tsp-directed": directed,
    "qap": facilities,
    "qap-large": lambda n: facilities(n, symmetric="a", diagonal=True, largest=10**7),
    "qap-general": lambda n: facilities(n, symmetric="neither", diagonal=True),
    "qap-linear": lambda n: facilities(n, linear=9999),
}
SEARCHES: list[dict[str, Any]] = [
    {"strategy": "first", "scope": "all", "steps": 0},
    {"strategy": "first", "scope": "position", "steps": 3},
    {"strategy": "best", "scope": "all", "steps": 1},
    {"strategy": "best", "scope": "position", "steps": 0},
]


def compare(
    backend: Backend, problem: Problem, name: str, generations: int = 2, **search: Any
) -> None:
    """Compare populations improved on a device and with NumPy."""
    mine, _, _ = begun(
        "brkga", "keys", {"elite": 0.2}, sizes=BRKGA, search={"name": name, **search},
        problem=problem, backend=backend,
    )  # fmt: skip
    reference = ImprovedBrkga(
        NumpyLocalSearch(problem, name, **search), elite=2, mutants=1,
        bias=[round(0.7 * 2**32)], **BRKGA,
    )  # fmt: skip
    evolve_together(mine, reference, generations, assert_same)


@pytest.mark.slow
@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("kind", PROBLEMS)
def test_each_search_equals_the_reference(backend: Backend, kind: str, name: str) -> None:
    for search in SEARCHES:
        compare(backend, PROBLEMS[kind](12), name, **search)


@pytest.mark.parametrize("name", MOVES)
def test_moves_of_directed_tours_equal_the_reference(backend: Backend, name: str) -> None:
    for n in (3, 12):
        compare(backend, directed(n), name)


@pytest.mark.slow
@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("kind", ["tsp", "qap-general"])
def test_orders_of_few_items_equal_the_reference(backend: Backend, kind: str, name: str) -> None:
    for n, scope in ((1, "all"), (2, "position"), (3, "all"), (4, "position"), (5, "all")):
        compare(backend, PROBLEMS[kind](n), name, scope=scope)


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.slow
def test_long_segments_and_scans(backend: Backend, name: str) -> None:
    """On a GPU, blocks have fewer threads than entries and moves."""
    for strategy in ("first", "best"):
        search: dict[str, Any] = {"strategy": strategy, "steps": 3}
        compare(backend, cities(300), name, scope="position", **search)
        compare(backend, facilities(40, symmetric="a"), name, **search)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two_opt", "reinsert"])
@pytest.mark.parametrize("kind", ["qap", "qap-large", "qap-general", "qap-linear"])
def test_groups_of_threads_find_the_same_moves(kind: str, name: str) -> None:
    """On a GPU, the threads of a group share the delta of a move, or walk along a line."""
    emulated = EmulatedGpu(64)
    for n, strategy, scope in ((5, "first", "all"), (19, "best", "all"), (19, "first", "position")):
        problem = PROBLEMS[kind](n)
        compare(emulated, problem, name, generations=1, strategy=strategy, scope=scope)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two_opt", "reinsert"])
def test_first_improving_moves_in_any_row(backend: Backend, name: str) -> None:
    """Populations that are improved by one step at a time have few improving moves left."""
    for each in (backend, EmulatedGpu(32)):
        compare(each, facilities(9), name, generations=12, steps=1)


def test_rate_and_interval_of_improvement(backend: Backend) -> None:
    problem = cities(12)
    for rate, every in ((0.5, 1), (0.5, 2), (1.0, 3), (0.0, 1)):
        compare(backend, problem, "two_opt", generations=4, rate=rate, every=every)
