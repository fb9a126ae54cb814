"""The benchmark of tours as a user states them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import islands
from islands.bench import decoders
from islands.bench.base import BenchRequest
from islands.parallel import World


def test_all_decoders_of_an_instance_reach_the_same_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoders, "INSTANCES", {"national/random": 30})
    request = BenchRequest(world=World(), backends=["cpu"], threads=1, generations=2)
    rows = list(decoders.measure(request))
    assert [row["decoder"] for row in rows] == list(decoders.WAYS)
    assert len({row["cost"] for row in rows}) == 1
    assert rows[0]["ratio"] == 1
    for row in rows:
        assert row["ratio"] == pytest.approx(row["milliseconds"] / rows[0]["milliseconds"])


def test_a_batch_of_tours_costs_the_rounded_lengths() -> None:
    places = np.random.default_rng(1).integers(0, 1000, (9, 2))
    tsp = islands.tsp(places, "EUC_2D")
    orders = np.array([np.random.default_rng(seed).permutation(9) for seed in range(5)])
    expected = []
    for order in orders:
        steps = places[order] - places[np.roll(order, -1)]
        expected.append(sum(int(np.hypot(*step) + 0.5) for step in steps))
    assert_array_equal(decoders.model_of("batch", tsp).costs(orders), expected)
