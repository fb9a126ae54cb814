"""Emigrants drawn by a roulette wheel, if costs are equal, differ much, or are very large."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_migration import NumpyMigration
from test_exchange import ELITE, SEED, archipelago_of, assert_migrates, seen

from islands.backends.base import Backend

ROULETTE = {"topology": "ring", "selection": "roulette", "replacement": "worst"}
ROULETTE |= {"duplicates": "accept"}


@pytest.mark.parametrize("side", [1, 2, 10**9])
def test_a_roulette_wheel_of_equal_or_very_different_costs_equals_the_reference(
    backend: Backend, side: int
) -> None:
    costs = seen(archipelago_of(backend, side=side, **ROULETTE))[0]
    assert (np.ptp(costs, axis=1) > 1 << 31).all() == (side == 10**9)
    assert (np.ptp(costs) == 0) == (side == 1)
    assert_migrates(backend, {**ROULETTE, "delay": 0}, side=side)


def test_the_weights_of_the_largest_costs_do_not_overflow(backend: Backend) -> None:
    islands = archipelago_of(backend, **ROULETTE)
    saved = islands.snapshot()
    # All but the worst are far better than that, so that the sum of the advantages has 67 bits.
    saved["cost"] = np.random.default_rng(1).integers(-(2**62), -(2**61), saved["cost"].shape)
    saved["cost"][:, 0] = 2**62
    saved["order"] = np.argsort(saved["cost"], axis=1, kind="stable").astype(np.int32)
    islands.restore(saved, generation=0, migrations=0)
    reference = NumpyMigration(migrants=2, seed=SEED, fixed=ELITE, delay=0, **ROULETTE)
    cost, keys = seen(islands)
    reference.migrate(cost, keys, 0)
    islands.migrate()
    after = seen(islands)
    assert np.array_equal(after[0], cost)
    assert np.array_equal(after[1], keys)
