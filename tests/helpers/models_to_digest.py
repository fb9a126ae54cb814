"""Small models whose runs `tests/digests` repeats."""

import numpy as np
from mixed_for_tests import mixed_by
from models_for_tests import sum_text

import islands
from islands import models

OPENED = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = 0; i < n; ++i) {
        bool is_first = true;
        for (int j = 0; j < i; ++j) is_first &= s[j] != s[i];
        sum += data.ways[s[i] * n + i] + (is_first ? data.opening[s[i]] : 0);
    }
    return sum;
}"""
OPENED_STATE = """
struct State {
    int* items;  // of each value
    __device__ State(Memory& memory, int n, const Data&) : items(memory.take<int>(n)) {}
};
__device__ void prepare(State& state, const Solution& s, int n, const Data&) {
    for (int k = 0; k < n; ++k) state.items[k] = 0;
    for (int i = 0; i < n; ++i) ++state.items[s[i]];
}
__device__ long long change(const State& state, const Solution& s, int n, const Data& data,
                            Set move) {
    const int i = move.item, from = s[i], to = move.value;
    return data.ways[to * n + i] - data.ways[from * n + i] +
           (state.items[to] == 0 ? data.opening[to] : 0) -
           (state.items[from] == 1 ? data.opening[from] : 0);
}
__device__ void apply(State& state, const Solution& s, int, const Data&, Set move) {
    --state.items[s[move.item]], ++state.items[move.value];
}
__device__ long long change(const State&, const Solution& s, int n, const Data& data, Swap move) {
    const int u = move.u, v = move.v, *ways = data.ways;
    return ways[s[v] * n + u] + ways[s[u] * n + v] - ways[s[u] * n + u] - ways[s[v] * n + v];
}
__device__ void apply(State&, const Solution&, int, const Data&, Swap) {}
"""

_RANDOM = np.random.default_rng(4)
_EDGES = np.array([(a, b) for a in range(30) for b in range(a) if _RANDOM.random() < 0.3])
_WAYS = _RANDOM.integers(1, 90, (24, 24))
_ROWS = [_RANDOM.choice(40, 5, replace=False).tolist() for _ in range(30)]

flow = models.flow_shop(_RANDOM.integers(1, 60, (12, 5)).tolist())
cover = models.set_cover(_RANDOM.integers(1, 30, 40), _ROWS)
quadratic = islands.qubo(_RANDOM.integers(-9, 9, (40, 40)))
cut = models.max_cut(_EDGES)
colours = models.graph_colouring(_EDGES)
bins = models.bin_packing(_RANDOM.integers(10, 60, 30).tolist(), 100)
places = models.p_median(_WAYS, 5)
mixed = mixed_by("cost")
diverse = models.max_diversity(_WAYS + _WAYS.T, 8)
sites = islands.choices(
    *(24, [24] * 20 + [10] * 4),
    groups=np.arange(24) % 3,
    cost=OPENED,
    state=OPENED_STATE,
    data={"ways": _WAYS.astype(np.int32), "opening": np.arange(40, 64)},
)
limited = islands.choices(
    *(24, 6),
    at_most=[3, 9, 5, 5, 4, 2],
    cost=sum_text("data.ways[s[i] * n + i]"),
    data={"ways": _WAYS[:6].astype(np.int32)},
)
