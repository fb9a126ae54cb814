"""Flow shops compared with all orders, and with schedules of plain Python."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from colonies_for_tests import begun

import islands
from islands.backends.base import Backend
from islands.models.flow_shops import bound

TIMES = np.random.default_rng(9).integers(0, 30, (7, 4))


@pytest.mark.parametrize("seed", range(20))
def test_no_order_ends_before_the_bound(seed: int) -> None:
    draw = np.random.default_rng(seed)
    times = draw.integers(0, 9, (int(draw.integers(1, 6)), int(draw.integers(1, 4))))
    orders = np.array([*permutations(range(len(times)))])
    assert bound(times.tolist()) <= islands.models.flow_shop(times.tolist()).costs(orders).min()


@pytest.mark.parametrize("objective", ["makespan", "flow_time"])
def test_no_step_climbs_without_heat(backend: Backend, objective: str) -> None:
    """The search looks at the change that a step would make: this must be its true one."""
    cold = {"rungs": 2, "proposals": 60, "patience": 0, "coldest": 1e-9, "hottest": 1e-9}
    problem = islands.models.flow_shop(TIMES.tolist(), objective=objective)
    sizes = {"population": 8, "islands": 2, "seed": 5}
    mine, _, _ = begun(
        "tempering", "permutation", cold, sizes=sizes, problem=problem, backend=backend
    )
    energies = []
    for _ in range(6):
        energies.append(np.sort(mine.snapshot()["energy"]))  # replicas exchange their states
        mine.advance(1)
    assert (np.diff(energies, axis=0) <= 0).all()
    assert (energies[-1] < energies[0]).any()
