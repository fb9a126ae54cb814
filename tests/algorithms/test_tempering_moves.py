"""Tempering of users' own problems on all devices compared with plain Python, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from numpy_chains import NumpyChains
from one_colony import one_colony

import islands
from islands.algorithms.tempering import Tempering, TemperingSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.errors import UsageError
from islands.migration import MigrationSettings
from islands.modelling.model import Model
from islands.parallel import World

N = 11
TABLE = np.random.default_rng(3).integers(1, 100, (N, N)).astype(np.int32)
ENCODINGS = {"order": "permutation", "subset": "bits", "keys": "keys", "vector": "vector"}
ROUTE = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = 0; i < n; ++i) sum += (1 + i % 3) * data.t[s[i] * n + s[(i + 1) % n]];
    return sum;
}"""
PLACES = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = 0; i < n; ++i) sum += data.t[s[i] * n + i];
    return sum;
}"""
PLACES_CHANGE = """
__device__ long long delta(const Solution& s, int n, const Data& data, Swap move) {
    const int a = s[move.u], b = s[move.v];
    return data.t[a * n + move.v] + data.t[b * n + move.u] - data.t[a * n + move.u]
           - data.t[b * n + move.v];
}"""
CHOICE = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) sum += s[i] * s[j] * (data.t[i * n + j] - 50);
    }
    return sum;
}"""
BOWL = """
__device__ double cost(const Solution& s, int n, const Data& data) {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        const double away = s[i] - data.t[i] / 128.0;
        sum += away * away * (1 + i);
    }
    return sum;
}"""


def route(order: list[int]) -> int:
    return sum((1 + i % 3) * int(TABLE[order[i], order[(i + 1) % N]]) for i in range(N))


def places(order: list[int]) -> int:
    return sum(int(TABLE[item, i]) for i, item in enumerate(order))


def choice(chosen: list[int]) -> int:
    items = np.flatnonzero(chosen)
    return int((TABLE[np.ix_(items, items)] - 50).sum())


def bowl(low: float = 0.0, width: float = 1.0) -> Any:
    def cost(numbers: list[float]) -> float:
        total = 0.0
        for i, number in enumerate(numbers):
            away = min(low + width * number, low + width) - int(TABLE[0, i]) / 128.0
            total += away * away * (1 + i)
        return total

    return cost


def problem(kind: str) -> tuple[Model, Any, tuple[int, ...]]:
    """Return a problem, the same cost in Python, and the moves of its orders."""
    data = {"t": TABLE}
    if kind == "delta":
        return islands.permutation(N, cost=PLACES, delta=PLACES_CHANGE, data=data), places, (0,)
    if kind == "order":
        return islands.permutation(N, cost=ROUTE, data=data), route, (0, 1, 2, 3)
    if kind == "subset":
        return islands.subset(N, cost=CHOICE, data=data), choice, ()
    if kind == "keys":
        return islands.keys(N, cost=BOWL, data=data), bowl(), ()
    return islands.real(-2.0, 2.0, N, cost=BOWL, data=data), bowl(-2.0, 4.0), ()


def numbers(costs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the real costs that integers stand for on the device: negative ones in reverse."""
    return np.where(costs < 0, costs ^ (2**63 - 1), costs).view(np.float64)


def both(backend: Backend, kind: str, **settings: Any) -> tuple[Archipelago, NumpyChains]:
    """Return the same run on a device and in Python."""
    model, cost, moves = problem(kind)
    values = {"rungs": 2, "proposals": 60, "patience": 4, **settings}
    own = TemperingSettings.build(values)
    mine = one_colony(
        problem=model, algorithm="tempering", encoding=ENCODINGS[model.solution_kind],
        settings=own, population=4, islands=2, seed=5,
        migration=MigrationSettings.build({"topology": "none"}), backend=backend, world=World(),
        transport=None, warm_start=list,
    )  # fmt: skip
    is_given = own.coldest > 0
    reference = NumpyChains(
        cost, model.solution_kind, N, islands=2, population=4, seed=5, rungs=own.rungs,
        proposals=own.proposals, patience=own.patience, tuning=0 if is_given else own.tuning,
        cycle=own.cycle, low=own.coldest or 1e-6, high=own.hottest or 1.0,
        renewed=range(own.rungs // 2, own.rungs), moves=moves,
    )  # fmt: skip
    mine.start()
    return mine, reference


def assert_same(mine: Archipelago, reference: NumpyChains, model: Model) -> None:
    saved = mine.snapshot()
    rows = [replica for rows in reference.replicas for replica in rows]
    for name, values in {
        "cost": [r.cost for r in rows],
        "energy": [r.energy for r in rows],
    }.items():
        found = numbers(saved[name].reshape(-1)) if model.real else saved[name].reshape(-1)
        assert np.asarray(found).tolist() == values, name
    temperatures = [t for island in reference.temperature for ladder in island for t in ladder]
    assert saved["temperature"].reshape(-1).tolist() == temperatures
    assert saved["calls"].tolist() == reference.calls
    for name, states in {"genes": [r.best for r in rows], "state": [r.order for r in rows]}.items():
        genes = saved[name].reshape(len(rows), -1)
        if model.solution_kind == "subset":
            bits = [[int(word[0]) >> i & 1 for i in range(N)] for word in genes]
            assert bits == [list(each) for each in states]
        else:
            assert genes[:, :N].tolist() == [list(each) for each in states]


@pytest.mark.parametrize("kind", ["order", "delta", "subset", "keys", "vector"])
@pytest.mark.parametrize("cycle", [0, 2])
def test_each_kind_of_solution_equals_the_reference(
    backend: Backend, kind: str, cycle: int
) -> None:
    mine, reference = both(backend, kind, tuning=5, cycle=cycle, patience=2)
    model = problem(kind)[0]
    assert_same(mine, reference, model)
    for _ in range(16):
        mine.advance(1)
        reference.evolve(1)
        assert_same(mine, reference, model)
    assert reference.kinds["accepted"] > 20
    assert reference.kinds["renewed"] > 0 or kind in ("keys", "vector")
    assert (reference.kinds["heated"] > 0) == (cycle > 0)
    if kind == "order":
        assert all(reference.kinds[f"move {move}"] > 20 for move in range(4))


def test_given_temperatures_are_kept(backend: Backend) -> None:
    mine, reference = both(backend, "order", coldest=0.01, hottest=0.3)
    for _ in range(6):
        mine.advance(1)
        reference.evolve(1)
        assert_same(mine, reference, problem("order")[0])
    assert reference.kinds["exchanged"] > 0


def test_problems_without_single_costs_are_refused() -> None:
    cooperative = islands.permutation(N, cost=ROUTE, data={"t": TABLE}, cooperative=True)
    assert not Tempering.fits(cooperative)
    with pytest.raises(UsageError, match="tempering needs moves whose"):
        islands.solve(cooperative, algorithm="tempering", generations=1, backend="cpu")
