"""Choices of exactly p items: every search keeps their number, and finds proven optima."""

from contextlib import nullcontext
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from models_for_tests import sum_text

import islands
from islands.backends.base import Backend
from islands.modelling.model import restored
from islands.testing.devices import emulated_gpu

PAIRS = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) sum += s[i] && s[j] ? data.gain[i * n + j] : 0;
    }
    return sum;
}"""
GAIN = np.ascontiguousarray(np.random.default_rng(4).integers(-50, 50, (40, 40))[:12, :12])


@pytest.mark.slow
@pytest.mark.parametrize("choose", [3, (0, 3), (9, 12)])
def test_the_default_finds_the_best_number(backend: Backend, choose: int | tuple[int, int]) -> None:
    n = 12
    own = islands.subset(n, choose=choose, cost=PAIRS, data={"gain": GAIN})
    gain = np.tril(GAIN)
    expected = min(
        gain[np.ix_(items, items)].sum()
        for size in ([choose] if isinstance(choose, int) else range(choose[0], choose[1] + 1))
        for items in map(list, combinations(range(n), size))
    )
    result = islands.solve(own, backend=backend.name, generations=40, seed=1)
    assert result.algorithm == "tempering"
    assert result.cost == expected
    again = islands.solve(restored(own.saved()), backend=backend.name, generations=40, seed=1)
    assert again.digest == result.digest
    islands.check_problem(own, samples=50)
    drawn = restored(own.saved()).kind.drawn(30, 1)
    assert own.kind.holds(drawn)
    assert not own.kind.holds(1 - drawn)


COUNT = sum_text("s[i] ? data.weight[i] : 0")
WEIGHT = np.arange(1, 15)


@pytest.mark.slow
@pytest.mark.parametrize("choose", [1, 13])
def test_the_only_item_to_exchange_is_always_found(backend: Backend, choose: int) -> None:
    # The defaults of sizes differ with a GPU.
    sizes: Any = {"islands": 4, "population": 2, "generations": 20, "backend": backend.name}
    digests = set()
    for cost in ({"cost": COUNT, "data": {"weight": WEIGHT}}, {"batch": lambda s: s @ WEIGHT}):
        own = islands.subset(14, choose=choose, maximise=True, **cost)
        result = islands.solve(own, algorithm="tempering", **sizes)
        assert result.cost == WEIGHT[-choose:].sum()
        digests.add(result.digest)
    assert len(digests) == 1


SUM = """
struct State { __device__ State(Memory&, int, const Data&) {} };
__device__ void prepare(State&, const Solution&, int, const Data&) {}
__device__ long long change(const State&, const Solution&, int, const Data& data, Exchange move) {
    return data.weight[move.in] - data.weight[move.out];
}
__device__ void apply(State&, const Solution&, int, const Data&, Exchange) {}
"""


@pytest.mark.slow
@pytest.mark.parametrize("threads", [0, 32])
def test_a_subset_without_items_has_no_exchange(threads: int) -> None:
    own = islands.subset(3, cost=COUNT, state=SUM, data={"weight": WEIGHT}, maximise=True)
    with emulated_gpu(threads) if threads else nullcontext():
        result = islands.solve(own, islands=4, generations=20)
    assert result.cost == result.solution @ WEIGHT[:3]
