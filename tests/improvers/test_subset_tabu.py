"""Tabu search on subsets on all devices compared with plain Python with full evaluations."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy_subset import NumpyKnapsack, NumpySubsetTabu, assert_same, feasible, improved, ways

from islands.backends import choose
from islands.backends.base import Backend
from islands.problems.mkp import Mkp


def compare(
    backend: Backend, problem: Mkp, *, low: float, high: float, threads: int = 32, **search: Any
) -> dict[str, int]:
    """Compare both searches; return how often each kind of step occurred."""
    core = min(search.get("core", 0) or problem.size, problem.size)
    ends = (round(share * core**0.5) for share in (low, high))
    steps = search.get("core", 0), search["steps"]
    reference = NumpySubsetTabu(NumpyKnapsack(problem), *steps, *ends)
    tenures = {"tenure_low": low, "tenure_high": high}
    assert_same(backend, problem, reference, threads, name="tabu", **tenures, **search)
    return reference.kinds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "core", "threads"), [("repair", 0, 32), ("linear", 9, 32), ("repair", 9, 128)]
)
def test_all_searches_equal_numpy(backend: Backend, way: str, core: int, threads: int) -> None:
    for n, steps in product((14, 33), (1, 30)):
        problem = ways(n, 3, way)
        search = {"core": core, "steps": steps}
        compare(backend, problem, low=0.9, high=1.1, threads=threads, **search)


def test_subsets_of_up_to_four_items_equal_the_reference(backend: Backend) -> None:
    for n in (1, 2, 3, 4):
        compare(backend, ways(n, 3), low=0.5, high=1.5, steps=20)


def test_all_kinds_of_steps_occur(backend: Backend) -> None:
    kinds = compare(backend, ways(10, 3), low=0.5, high=2, steps=100)
    assert min(kinds[kind] for kind in ("in", "out", "both", "worse", "aspired")) > 0
    assert compare(backend, ways(8, 3), low=30, high=30, steps=50)["none"] > 0


@pytest.mark.slow
def test_ties_of_profit_are_broken_by_item_number(backend: Backend) -> None:
    for seed in range(4):
        compare(backend, ways(12, 3, largest=6, seed=seed), low=0.3, high=1, steps=30)


def test_long_searches_leave_the_local_optimum(backend: Backend) -> None:
    """Devices agree, costs are correct, and tabu search is better than local search."""
    problem = ways(100, 3)
    device = NumpyKnapsack(problem)
    choices = feasible(problem, 8)[-3:]
    found = improved(choose("cpu", 1), problem, choices, name="tabu", steps=300)
    assert improved(backend, problem, choices, 64, name="tabu", steps=300) == found
    for chosen, cost in zip(*found[:2], strict=True):
        assert device.fits(chosen)
        assert cost == -int(device.profits @ np.array(chosen))
    local = improved(backend, problem, choices, name="exchange", strategy="best")
    assert all(tabu < cost for tabu, cost in zip(found[1], local[1], strict=True))
