"""Problems of a user's own, of several kinds: each function makes one of a size and random data."""

from typing import Any

import numpy as np
from models_for_tests import sum_text

import islands
from islands.problems.base import Problem

_LATE = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long time = data.begin, sum = 0;
    for (int i = 0; i < n; ++i) {
        time += data.time[s[i]];
        sum += data.weight[s[i]] * max(0ll, time - data.due[s[i]]);
    }
    return sum;
}
"""
_EARLY = """
__device__ long long violation(const Solution& s, int n, const Data& data) {
    long long first = 0;
    for (int i = 0; i < n; ++i) first += i < n / 2 ? data.weight[s[i]] : 0;
    return max(0ll, first - data.most);
}
"""
_BEFORE = """
__device__ void repair(Changing& s, int n, const Data& data) {
    int at = 0;
    while (s[at] != data.first) ++at;
    for (; at > 0; --at) s.set(at, s[at - 1]);
    s.set(0, data.first);
}
"""
_ROOM = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0, load = 0;
    for (int i = 0; i < n; ++i) {
        if (s[i]) sum += data.value[i], load += data.load[i];
    }
    return load > data.room ? -1 : sum;
}
"""
_VALUE = sum_text("s[i] ? data.value[i] : 0")
_LOAD = sum_text("s[i] ? data.load[i] : 0", name="violation", of="max(0ll, sum - data.room)")
_KNOWN_LOAD = """
struct State {
    long long* load;  // of each group of items
    __device__ State(Memory& memory, int n, const Data& data)
        : load(memory.take<long long>(data.groups)) {}
};

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    if (threadIdx.x != 0) return;
    for (int g = 0; g < data.groups; ++g) state.load[g] = 0;
    for (int i = 0; i < n; ++i) state.load[i % data.groups] += s[i] ? data.load[i] : 0;
}

__device__ Change change(const State& state, const Solution& s, int n, const Data& data,
                         Flip move) {
    long long before = 0;
    for (int g = 0; g < data.groups; ++g) before += state.load[g];
    const long long by = s[move.item] ? -data.load[move.item] : data.load[move.item];
    const long long value = s[move.item] ? -data.value[move.item] : data.value[move.item];
    return {value, max(0ll, before + by - data.room) - max(0ll, before - data.room)};
}

__device__ void apply(State& state, const Solution& s, int n, const Data& data, Flip move) {
    const long long load = data.load[move.item];
    state.load[move.item % data.groups] += s[move.item] ? -load : load;
}
"""
_BOWL = sum_text(
    "(s[i] - data.centre[i]) * (s[i] - data.centre[i])", first="data.base", kind="double"
)


def _jobs(n: int, random: np.random.Generator) -> dict[str, Any]:
    time = random.integers(1, 100, n)
    return {
        "time": time,
        "weight": random.integers(1, 10, n),
        "due": random.integers(1, 50 * n, n),
        "begin": int(random.integers(0, 50)),
        "most": int(random.integers(2, 5)) * n // 2,
        "first": int(random.integers(n)),
    }


def _items(n: int, random: np.random.Generator) -> dict[str, Any]:
    load = random.integers(1, 100, n)
    return {
        "value": random.integers(1, 10 ** int(random.integers(1, 6)), n),
        "load": load,
        "room": int(load.sum() // random.integers(2, 5)),
        "groups": int(random.integers(1, 9)),
    }


def order(n: int, random: np.random.Generator, **more: Any) -> Problem:
    return islands.permutation(n, cost=_LATE, data=_jobs(n, random), **more)


def order_with_violation(n: int, random: np.random.Generator) -> Problem:
    return order(n, random, violation=_EARLY)


def order_with_price(n: int, random: np.random.Generator) -> Problem:
    return order(n, random, violation=_EARLY, price=float(random.integers(1, 40)))


def repaired_order(n: int, random: np.random.Generator) -> Problem:
    return order(n, random, repair=_BEFORE)


def order_in_parts(n: int, random: np.random.Generator) -> Problem:
    """Return orders in 2 parts, of which the items from n - 1 on are separators."""
    data = _jobs(n, random)
    return islands.permutation(n - 1, cost=_LATE, data=data, parts=2)


def order_with_pairs(n: int, random: np.random.Generator) -> Problem:
    pairs = np.sort(random.permutation(n)[:4].reshape(2, 2), axis=1)
    return order(n, random, before=pairs)


def subset(n: int, random: np.random.Generator) -> Problem:
    return islands.subset(n, cost=_ROOM, data=_items(n, random), maximise=True)


def subset_with_state(n: int, random: np.random.Generator) -> Problem:
    """Return a problem of subsets whose state has a size that the data determine."""
    data = _items(n, random)
    texts = {"cost": _VALUE, "violation": _LOAD, "state": _KNOWN_LOAD}
    return islands.subset(n, data=data, maximise=True, **texts)


def keys(n: int, random: np.random.Generator) -> Problem:
    data = {"centre": random.random(n), "base": float(random.random())}
    return islands.keys(n, cost=_BOWL, data=data)


def vector(n: int, random: np.random.Generator) -> Problem:
    """Return a problem of real numbers with random bounds."""
    low = random.random(n) * 4 - 4
    data = {"centre": random.random(n), "base": float(random.random())}
    return islands.real(low, low + 1 + random.random(n) * 6, cost=_BOWL, data=data)


def medians(n: int, random: np.random.Generator) -> Problem:
    return islands.models.p_median(random.integers(1, 100, (n, n)), 3)


def colouring(n: int, random: np.random.Generator) -> Problem:
    """Return a graph colouring whose last node has an edge, so that the graph has all nodes."""
    pairs = [(i, j) for i in range(n) for j in range(i) if (i, j) != (n - 1, 0)]
    edges = [(n - 1, 0), *random.choice(pairs, 2 * n, replace=False).tolist()]
    return islands.models.graph_colouring(edges, 3)
