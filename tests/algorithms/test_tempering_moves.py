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
CHOICE_STATE = """
struct State {
    long long* field;  // of each item: the sum of its entries with all chosen items
    long long chosen;
    __device__ State(Memory& memory, int n, const Data&)
        : field(memory.take<long long>(n)), chosen(0) {}
};
__device__ long long both(const Data& data, int n, int i, int j) {
    return data.t[i * n + j] + data.t[j * n + i] - 100;
}
__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    state.chosen = 0;
    for (int i = 0; i < n; ++i) {
        state.chosen += s[i];
        state.field[i] = data.t[i * n + i] - 50;
        for (int j = 0; j < n; ++j) state.field[i] += j != i ? s[j] * both(data, n, i, j) : 0;
    }
}
__device__ long long change(const State& state, const Solution& s, int n, const Data&, Flip move) {
    return s[move.item] ? -state.field[move.item] : state.field[move.item];
}
__device__ void apply(State& state, const Solution& s, int n, const Data& data, Flip move) {
    const int by = s[move.item] ? -1 : 1;
    state.chosen += by;
    for (int j = 0; j < n; ++j) {
        if (j != move.item) state.field[j] += by * both(data, n, j, move.item);
    }
}
__device__ long long change(const State& state, const Solution& s, int n, const Data& data,
                            Exchange move) {
    return state.field[move.in] - state.field[move.out] - both(data, n, move.in, move.out);
}
__device__ void apply(State& state, const Solution& s, int n, const Data& data, Exchange move) {
    for (int j = 0; j < n; ++j) {
        if (j != move.in) state.field[j] += both(data, n, j, move.in);
        if (j != move.out) state.field[j] -= both(data, n, j, move.out);
    }
}"""
PLACES_STATE = """
struct State {
    double* price;  // of each place
    __device__ State(Memory& memory, int n, const Data&) : price(memory.take<double>(n)) {}
};
__device__ double at(const Data& data, int n, int item, int place) {
    return data.t[item * n + place] / 8.0;
}
__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    for (int i = 0; i < n; ++i) state.price[i] = at(data, n, s[i], i);
}
__device__ double change(const State& state, const Solution& s, int n, const Data& data,
                         Swap move) {
    const auto [u, v] = move;
    return at(data, n, s[u], v) + at(data, n, s[v], u) - state.price[u] - state.price[v];
}
__device__ void apply(State& state, const Solution& s, int n, const Data& data, Swap move) {
    const auto [u, v] = move;
    state.price[u] = at(data, n, s[v], u);
    state.price[v] = at(data, n, s[u], v);
}
__device__ double change(const State& state, const Solution& s, int n, const Data& data,
                         Insertion move) {
    double sum = at(data, n, s[move.u], move.v) - state.price[move.u];
    for (int i = move.u; i < move.v; ++i) sum += at(data, n, s[i + 1], i) - state.price[i + 1];
    return sum;
}
__device__ void apply(State& state, const Solution& s, int n, const Data& data, Insertion move) {
    for (int i = move.u; i < move.v; ++i) state.price[i] = at(data, n, s[i + 1], i);
    state.price[move.v] = at(data, n, s[move.u], move.v);
}"""
BOWL_STATE = """
struct State {
    __device__ State(Memory&, int, const Data&) {}
};
__device__ double at(const Data& data, int i, double number) {
    const double away = number - data.t[i] / 128.0;
    return away * away * (1 + i);
}
__device__ void prepare(State&, const Solution&, int, const Data&) {}
__device__ double change(const State&, const Solution& s, int, const Data& data, Set move) {
    return at(data, move.item, move.value) - at(data, move.item, s[move.item]);
}
__device__ void apply(State&, const Solution&, int, const Data&, Set) {}"""
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
    if kind == "state of choice":
        own = islands.subset(N, cost=CHOICE, state=CHOICE_STATE, data=data)
        return own, choice, (4, 5)
    if kind == "state of places":
        real = PLACES.replace("long long", "double").replace("sum;", "sum / 8.0;")
        own = islands.permutation(N, cost=real, state=PLACES_STATE, data=data)
        return own, lambda order: places(order) / 8.0, (0, 2)
    if kind == "subset":
        return islands.subset(N, cost=CHOICE, data=data), choice, (4, 5)
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


@pytest.mark.parametrize(
    "kind", ["order", "delta", "subset", "keys", "vector", "state of choice", "state of places"]
)
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


def test_a_state_of_numbers_gives_the_costs_of_whole_evaluations(backend: Backend) -> None:
    plain, with_state = (
        islands.solve(
            islands.keys(N, cost=BOWL, data={"t": TABLE}, state=state), algorithm="tempering",
            generations=80, seed=2, backend=backend.name,
        )
        for state in (None, BOWL_STATE)
    )  # fmt: skip
    assert with_state.cost == pytest.approx(bowl()(with_state.solution.tolist()))
    assert with_state.cost == pytest.approx(plain.cost, abs=1e-3)


def test_a_state_whose_functions_take_different_moves_is_refused() -> None:
    half = CHOICE_STATE.replace(
        "void apply(State& state, const Solution& s, int n, const Data& data, Exchange",
        "void other(State& state, const Solution& s, int n, const Data& data, Exchange",
    )
    with pytest.raises(UsageError, match="change takes flip and exchange, and apply flip. Define"):
        islands.subset(N, cost=CHOICE, state=half, data={"t": TABLE})
    with pytest.raises(UsageError, match=r"state.cu: does not define prepare"):
        islands.subset(N, cost=CHOICE, state="__device__ int x;", data={"t": TABLE})
    with pytest.raises(UsageError, match="state: only belongs to cost="):
        islands.subset(N, function=sum, state=CHOICE_STATE)
