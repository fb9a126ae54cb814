"""Knapsacks of unusual shapes, whose default search is compared with exact methods."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

import islands

Numbers = NDArray[np.int64]
Shape = tuple[Numbers, Numbers, Numbers]  # profits, weights, capacities

pytestmark = pytest.mark.usefixtures("optimised")


def _by_dynamic_program(profits: Numbers, weights: Numbers, capacity: int) -> int:
    best = np.zeros(capacity + 1, np.int64)
    for profit, weight in zip(profits, weights, strict=True):
        best[weight:] = np.maximum(best[weight:], best[: capacity + 1 - weight] + profit)
    return int(best[-1])


def _by_branch_and_cut(profits: NDArray[np.float64], weights: object, capacities: object) -> float:
    own: Any = {"constraints": LinearConstraint(weights, -np.inf, capacities)}
    own |= {"integrality": np.ones(len(profits)), "bounds": Bounds(0, 1)}
    solved = milp(-profits, **own, options={"mip_rel_gap": 0.0})
    assert solved.status == 0
    return -float(solved.fun)


def _found(shape: Shape, best: float) -> float:
    stop = [f"target={best:.0f}", "generations=400"]
    return islands.solve(islands.mkp(*shape), stop=stop, seed=2, backend="cpu").cost


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["independent", "correlated", "subset sum", "with zeros"])
def test_one_constraint_has_the_profit_of_a_dynamic_program(kind: str) -> None:
    rng = np.random.default_rng(4)
    weights = rng.integers(1, 200, 400)
    profits = rng.integers(1, 200, 400)
    if kind == "correlated":
        profits = weights + 20
    elif kind == "subset sum":
        profits = weights = 6 * weights + 3
    elif kind == "with zeros":
        weights[::5] = profits[::7] = 0
    capacity = int(weights.sum()) * 2 // 5 + 1
    best = _by_dynamic_program(profits, weights, capacity)
    assert _found((profits, weights[np.newaxis], np.array([capacity])), best) == best


def _sparse(rng: np.random.Generator) -> Shape:
    """Each constraint is about a fifth of the items, so most weights are zero."""
    weights = rng.integers(1, 100, (15, 90)) * (rng.random((15, 90)) < 0.2)
    return rng.integers(50, 150, 90), weights, weights.sum(axis=1) // 2


def _tight(rng: np.random.Generator) -> Shape:
    """Each two rows together require a load within 1 % of a number: nearly an equality."""
    own = rng.integers(1, 100, (3, 60))
    weights = np.concatenate([own, 100 - own])
    count = 24  # chosen items
    capacities = np.concatenate([np.full(3, 50 * count), np.full(3, 50 * count + count // 2)])
    return rng.integers(50, 150, 60), weights, capacities


def _cardinality(rng: np.random.Generator) -> Shape:
    """At most ten items, and two usual capacities."""
    weights = np.concatenate([np.ones((1, 200), np.int64), rng.integers(1, 1000, (2, 200))])
    return weights[1:].sum(axis=0) + rng.integers(0, 500, 200), weights, np.array([10, 4500, 5500])


def _demanding(rng: np.random.Generator) -> Shape:
    """Return items of which some fit alone only, some in no knapsack."""
    weights = rng.integers(1, 100, (5, 60))
    weights[:, :6] = 400
    weights[0, 6:9] = 10**6
    return weights.mean(axis=0).astype(np.int64) + 20, weights, np.full(5, 420)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [_sparse, _demanding, _tight, _cardinality])
def test_a_proven_optimum_is_reached(shape: Callable[[np.random.Generator], Shape]) -> None:
    profits, weights, capacities = shape(np.random.default_rng(5))
    best = round(_by_branch_and_cut(profits.astype(float), weights, capacities))
    assert 0 < best < profits.sum()
    assert _found((profits, weights, capacities), best) == best


@pytest.mark.slow
def test_a_hundred_constraints_of_ten_thousand_items_come_near_their_relaxation() -> None:
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 1001, (100, 10_000))
    profits = weights.mean(axis=0).astype(np.int64) + rng.integers(0, 501, 10_000)
    capacities = weights.sum(axis=1) // 2
    relaxed = linprog(-profits, A_ub=weights, b_ub=capacities, bounds=(0, 1), method="highs")
    large = islands.mkp(profits, weights, capacities)
    found = islands.solve(large, stop="generations=60", backend="cpu", seed=1)
    assert -0.999 * relaxed.fun < found.cost <= -relaxed.fun
    assert (weights @ found.solution <= capacities).all()
