"""The price of a violation: fixed, or adapted by tempering; bit-identical everywhere."""

from typing import Any

import numpy as np
import pytest
from test_violations import EXCESS, VALUE, real

import islands
from islands.backends.base import Backend
from islands.errors import RunError
from islands.modelling.model import Model

FEW: Any = {"generations": 25, "seed": 1, "islands": 3, "proposals": 80}
MANY, LIMIT = 40, 300
PROFITS, LOADS = np.random.default_rng(8).integers(10, 100, (2, MANY))


def tight(by: str, price: float | None) -> Model:
    """Return a knapsack for few of 40 items; without a price, its price is too low, and adapts."""
    cost, rule = (real(VALUE), real(EXCESS)) if by == "real" else (VALUE, EXCESS)
    data = {"values": PROFITS, "weights": LOADS, "limit": LIMIT}
    own: dict[str, Any] = {"cost": cost, "violation": rule, "data": data}
    if by == "batch":
        loads = lambda s: np.maximum(0, s.astype(np.int64) @ LOADS - LIMIT)  # noqa: E731
        own = {"batch": lambda s: s.astype(np.int64) @ PROFITS, "violation": loads}
    fixed = {} if price is None else {"price": price}
    problem = islands.subset(MANY, maximise=True, **own, **fixed)
    if price is None:
        problem._price = LOW
    return problem


LOW = 2.0**-14
"""A price at which the best subset has all items."""


@pytest.mark.slow
@pytest.mark.parametrize("by", ["cost", "real", "batch"])
def test_a_price_that_is_too_low_rises(backend: Backend, by: str) -> None:
    most = np.zeros(LIMIT + 1, np.int64)  # by dynamic programming: of each load
    for profit, load in zip(PROFITS, LOADS, strict=True):
        most[load:] = np.maximum(most[load:], most[: LIMIT + 1 - load] + profit)
    options: Any = {"backend": backend.name, **FEW, "generations": 400}
    fixed = islands.solve(tight(by, LOW), **options)
    assert fixed.cost is None
    assert fixed.violation > 0
    adapted = islands.solve(tight(by, None), **options)
    assert (adapted.cost, adapted.violation) == (most.max(), 0)


@pytest.mark.slow
def test_a_price_that_is_too_high_falls(backend: Backend) -> None:
    problem = tight("cost", None)
    problem._price = 2.0**20
    solver = islands.Solver(problem, backend=backend.name, seed=1, islands=3, proposals=80)
    solver.evolve(400)
    prices = 2.0**20 * solver._archipelago.snapshot()["price"]
    # Near the border, a unit of weight is worth a few units of value.
    assert (prices > 0.05).all()
    assert (prices < 100).all()


def test_a_price_is_found_after_an_error() -> None:
    broken = [True]

    def loads(chosen: Any) -> Any:
        if broken[0] and len(chosen) > 1 and chosen.sum() < 0.1 * chosen.size:  # a sample
            raise ValueError("not ready")
        return np.maximum(0, chosen.astype(np.int64) @ LOADS - LIMIT)

    def problem() -> Model:
        costs = lambda s: s.astype(np.int64) @ PROFITS  # noqa: E731
        return islands.subset(MANY, batch=costs, violation=loads, maximise=True)

    own = problem()
    with pytest.raises(RunError, match="not ready"):
        islands.solve(own, backend="cpu", **FEW)
    broken[0] = False
    assert own.price == problem().price > 1
