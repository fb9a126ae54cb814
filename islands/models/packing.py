"""Bin packing: few bins of equal capacity that take all items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.calls import explained
from islands.errors import UsageError
from islands.modelling.api import keys
from islands.modelling.kinds import whole_number
from islands.modelling.model import Model
from islands.models.files import NumberFile
from islands.models.numbers import amounts
from islands.models.plain import Packing
from islands.models.texts import filled
from islands.problems.data import name_or

_COST = """
constexpr int BINS = {bins};

// The bin of an item is a whole number, its key times the number of bins.
__device__ int bin_of(float key) { return int(key * BINS); }

// A bin that is too full costs more than a bin for each of its items.
__device__ int price(long long load, int count, const Data& data) {
    return load > data.capacity ? count + 1 : count > 0;
}

__device__ long long cost(const Solution& s, int n, const Data& data) {
    int load[BINS] = {}, count[BINS] = {};
    for (int i = 0; i < n; ++i) {
        load[bin_of(s[i])] += data.size[i];
        ++count[bin_of(s[i])];
    }
    long long sum = 0;
    for (int b = 0; b < BINS; ++b) sum += price(load[b], count[b], data);
    return sum;
}
"""
_STATE = """
constexpr int NONE = -1;
constexpr int ONE = 1 << 20;  // what an empty bin lacks
constexpr int MOST = 2;       // items of a bin that a step moves
constexpr int LOOKS = 16;     // random steps, of which the best is proposed

struct State {
    int *bin, *after;  // of each item: its bin, and the next item there, or NONE
    int *load, *count, *first;  // of each bin; `first` is one of its items, or NONE
    long long* lack;  // of each bin: see lack_of()
    __device__ State(Memory& memory, int n, const Data&)
        : bin(memory.take<int>(n)), after(memory.take<int>(n)), load(memory.take<int>(BINS)),
          count(memory.take<int>(BINS)), first(memory.take<int>(BINS)),
          lack(memory.take<long long>(BINS)) {}
};

// Exchanges items of two bins, up to two of each: an item of `item[k]`, unless it is NONE, leaves
// `bin[k]` for the other one.
struct Step {
    int bin[2], item[2][MOST];
};

// What a bin lacks: 0 if it is full, ONE if it is empty. The last units of its room count most, so
// that bins become exactly full and stay so, and others become empty. The number of bins alone
// would show no way down, and with squares of loads, all bins lack a little in the end.
__device__ long long lack_of(long long load, const Data& data) {
    const double room = double(data.capacity - load) / double(data.capacity);
    return (long long)(ONE * (room >= 0 ? sqrt(sqrt(room)) : 1 - 4 * room));
}

__device__ void put(State& state, int item, int b, const Data& data) {
    state.bin[item] = b;
    state.after[item] = state.first[b];
    state.first[b] = item;
    state.load[b] += data.size[item], ++state.count[b];
}

__device__ void take(State& state, int item, const Data& data) {
    const int b = state.bin[item];
    int* at = &state.first[b];
    while (*at != item) at = &state.after[*at];
    *at = state.after[item];
    state.load[b] -= data.size[item], --state.count[b];
}

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    for (int b = 0; b < BINS; ++b) state.load[b] = state.count[b] = 0, state.first[b] = NONE;
    for (int i = 0; i < n; ++i) put(state, i, bin_of(s[i]), data);
    for (int b = 0; b < BINS; ++b) state.lack[b] = lack_of(state.load[b], data);
}

// By how much more the bins lack after a step.
__device__ long long change(const State& state, const Solution&, int, const Data& data,
                            Step step) {
    const int a = step.bin[0], b = step.bin[1];
    const auto size_of = [&](int item) { return item == NONE ? 0 : data.size[item]; };
    long long by = 0;
    for (int k = 0; k < MOST; ++k) by += size_of(step.item[0][k]) - size_of(step.item[1][k]);
    return lack_of(state.load[a] - by, data) + lack_of(state.load[b] + by, data) -
           state.lack[a] - state.lack[b];
}

// Return another item of the same bin, or NONE.
__device__ int next_to(const State& state, int item) {
    const int next = state.after[item];
    const int other = next == NONE ? state.first[state.bin[item]] : next;
    return other == item ? NONE : other;
}

__device__ bool propose(const State& state, const Solution& s, int n, const Data& data,
                        Random& random, Step& step) {
    const int item = random.below(n), next = next_to(state, item), bin = state.bin[item];
    long long least = 0;
    bool is_found = false;
    for (int k = 0; k < LOOKS; ++k) {
        const int other = random.below(n), kind = random.below(8), more = random.below(16);
        const int to = kind ? state.bin[other] : random.below(BINS);
        if (to == bin) continue;
        const bool comes = kind > 1;  // the other item, in exchange
        const Step each = {
            {bin, to},
            {{item, more % 4 ? NONE : next},
             {comes ? other : NONE, comes && more < 4 ? next_to(state, other) : NONE}},
        };
        const long long by = change(state, s, n, data, each);
        if (!is_found || by < least) step = each, least = by, is_found = true;
    }
    return is_found;
}

__device__ long long apply(State& state, Changing& s, int, const Data& data, Step step) {
    const auto own = [&] {
        long long sum = 0;
        for (const int b : step.bin) sum += price(state.load[b], state.count[b], data);
        return sum;
    };
    const long long before = own();
    for (int side = 0; side < 2; ++side) {
        const int to = step.bin[1 - side];
        for (const int item : step.item[side]) {
            if (item == NONE) continue;
            take(state, item, data);
            put(state, item, to, data);
            s.set(item, (to + 0.5f) / BINS);
        }
    }
    for (const int b : step.bin) state.lack[b] = lack_of(state.load[b], data);
    return own() - before;
}
"""
_MOST = 1 << 16
"""The most bins, so that keys tell them apart."""


@explained
def bin_packing(
    sizes: ArrayLike, capacity: int, bins: int | None = None, *, name: str | None = None
) -> Model:
    """Return the problem of the fewest bins that take all items.

    The sizes of the items of a bin must not exceed `capacity`; all are whole numbers. A bin that
    is too full costs more than a bin for each of its items. `bins` is how many there are, by
    default a tenth more than a simple rule needs. `bins_of` returns the bins of a solution, which
    consists of keys.

    >>> problem = islands.models.bin_packing([5, 4, 3, 2, 6], 10)
    >>> islands.solve(problem, generations=20).cost
    2
    """
    capacity = whole_number("capacity", capacity, 2**30)
    size = amounts("sizes", sizes, 1, 2**30)
    if int(size.max()) > capacity:
        raise UsageError(f"sizes: {size.max()} exceeds capacity={capacity}. Leave it out")
    if bins is None:
        bins = _first_fit(size, capacity)
        bins = min(len(size), bins + bins // 10 + 1)  # with room for moves
    bins, short = whole_number("bins", bins, _MOST), size.astype(np.int32)

    def costs(solutions: NDArray[Any]) -> NDArray[Any]:
        found = []
        for own in bins_of(solutions, bins):
            load = np.bincount(own, size, bins)
            count = np.bincount(own, minlength=bins)
            found.append(int(np.where(load > capacity, count + 1, count > 0).sum()))
        return np.array(found)

    def draw(solution: Any, axes: Any) -> None:
        top = np.zeros(bins)
        for i, b in enumerate(bins_of(solution, bins).tolist()):
            axes.bar(b, size[i], bottom=top[b], width=0.9, color=f"C{i % 10}")
            top[b] += size[i]
        axes.axhline(capacity, color="0.4", linewidth=0.8)
        axes.set(xlabel="bin", ylabel="load")

    model = keys(
        len(size),
        cost=filled(_COST, {"bins": bins}),
        state=_STATE,
        data={"size": short, "capacity": capacity},
        reference=costs,
        name=name_or(name, f"binpacking-{len(size)}-{capacity}"),
        plot=draw,
    )
    model.plain = lambda: Packing(bins, short, capacity)
    return model


def bins_of(solution: ArrayLike, bins: int) -> NDArray[np.int64]:
    """Return the bin of each item in a solution, of that many bins."""
    return (np.asarray(solution, np.float32) * np.float32(bins)).astype(np.int64)


def bound(sizes: ArrayLike, capacity: int) -> int:
    """Return a lower bound: the sum of the sizes, or the items above half of a bin."""
    size = np.asarray(sizes)
    return max(-(-int(size.sum()) // capacity), int((2 * size > capacity).sum()))


def _first_fit(size: NDArray[Any], capacity: int) -> int:
    """Return how many bins are needed if items go to the first with room, the largest first."""
    room: list[int] = []
    for each in sorted(size.tolist(), reverse=True):
        k = next((k for k, left in enumerate(room) if left >= each), len(room))
        if k == len(room):
            room.append(capacity)
        room[k] -= each
    return len(room)


def read(path: Path) -> Model:
    """Return the problem in a file: the number of items, the capacity, and all sizes."""
    with NumberFile.open(path) as file:
        n, capacity = file.numbers(2, "sizes", 1)
        file.expect(f"a packing of {n} items", n)
        sizes = file.numbers(n, "sizes of items")
        file.end()
        return bin_packing(sizes, capacity)
