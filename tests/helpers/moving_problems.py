"""Small problems of users with costs in CUDA and in Python, and states that follow moves."""

from functools import partial
from typing import Any

import numpy as np
from models_for_tests import sum_text

import islands
from islands.modelling.model import Model

N = 11
TABLE = np.random.default_rng(3).integers(1, 100, (N, N)).astype(np.int32)
ROUTE = sum_text("(1 + i % 3) * data.t[s[i] * n + s[(i + 1) % n]]")
PLACES = sum_text("data.t[s[i] * n + i]")
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


FEW_REPAIR = """
__device__ void repair(Changing& s, int n, const Data& data) {
    int chosen = 0;
    for (int i = 0; i < n; ++i) {
        if (s[i] && ++chosen > 4) s.set(i, 0);
    }
}"""
PRECEDENCE_REPAIR = """
__device__ void repair(Changing& s, int n, const Data& data) {
    int zero = 0, one = 0;
    for (int i = 0; i < n; ++i) {
        if (s[i] == 0) zero = i;
        if (s[i] == 1) one = i;
    }
    if (zero > one) s.set(one, 0), s.set(zero, 1);
}"""


def few(chosen: list[int]) -> int:
    """Drop all but the first four items, and return the cost."""
    for item in np.flatnonzero(chosen)[4:]:
        chosen[item] = 0
    return choice(chosen)


def preceded(order: list[int]) -> int:
    """Let item 0 be before item 1, and return the cost."""
    zero, one = order.index(0), order.index(1)
    if zero > one:
        order[zero], order[one] = 1, 0
    return route(order)


_REAL_PLACES = PLACES.replace("long long", "double").replace("sum;", "sum / 8.0;")
_ORDERS, _SUBSETS = partial(islands.permutation, N), partial(islands.subset, N)
_VECTORS, _ALL = partial(islands.real, -2.0, 2.0, N), (0, 1, 2, 3)
_PROBLEMS: dict[str, tuple[Any, dict[str, Any], Any, tuple[int, ...]]] = {
    "delta": (_ORDERS, {"cost": PLACES, "delta": PLACES_CHANGE}, places, (0,)),
    "order": (_ORDERS, {"cost": ROUTE}, route, _ALL),
    "cooperative": (_ORDERS, {"cost": ROUTE, "cooperative": True}, route, _ALL),
    "repaired choice": (_SUBSETS, {"cost": CHOICE, "repair": FEW_REPAIR}, few, (4, 5)),
    "repaired order": (_ORDERS, {"cost": ROUTE, "repair": PRECEDENCE_REPAIR}, preceded, _ALL),
    "state of choice": (_SUBSETS, {"cost": CHOICE, "state": CHOICE_STATE}, choice, (4, 5)),
    "state of vectors": (_VECTORS, {"cost": BOWL, "state": BOWL_STATE}, bowl(-2.0, 4.0), ()),
    "state of places": (
        *(_ORDERS, {"cost": _REAL_PLACES, "state": PLACES_STATE}),
        *(lambda order: places(order) / 8.0, (0, 2)),
    ),
    "subset": (_SUBSETS, {"cost": CHOICE}, choice, (4, 5)),
    "keys": (partial(islands.keys, N), {"cost": BOWL}, bowl(), ()),
    "vector": (_VECTORS, {"cost": BOWL}, bowl(-2.0, 4.0), ()),
}


def problem(kind: str) -> tuple[Model, Any, tuple[int, ...]]:
    """Return a problem, the same cost in Python, and the moves of its orders."""
    make, texts, cost, moves = _PROBLEMS[kind]
    return make(**texts, data={"t": TABLE}), cost, moves
