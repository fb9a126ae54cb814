"""Bin packing: few bins of equal capacity that take all items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.errors import UsageError
from islands.modelling.api import keys
from islands.modelling.kinds import whole_number
from islands.modelling.model import Model
from islands.models.files import NumberFile, refusing
from islands.models.texts import filled

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

struct State {
    int *bin, *load, *count;
    __device__ State(Memory& memory, int n, const Data&)
        : bin(memory.take<int>(n)), load(memory.take<int>(BINS)), count(memory.take<int>(BINS)) {}
};

// Moves an item into a bin, and another one, if any, into its place.
struct Step {
    int item, bin, other;
};

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    for (int b = 0; b < BINS; ++b) state.load[b] = state.count[b] = 0;
    for (int i = 0; i < n; ++i) {
        const int b = state.bin[i] = bin_of(s[i]);
        state.load[b] += data.size[i];
        ++state.count[b];
    }
}

__device__ bool propose(const State& state, const Solution&, int n, const Data&, Random& random,
                        Step& step) {
    step.item = random.below(n);
    const int other = random.below(n), kind = random.below(8);
    step.bin = kind ? state.bin[other] : random.below(BINS);
    step.other = kind > 2 ? other : NONE;
    return step.bin != state.bin[step.item];
}

// What a load is worth: full bins are good, and so are empty ones; the number of bins alone would
// show no way down.
__device__ long long worth(long long load, const Data& data) {
    const long long most = data.capacity;
    return load <= most ? -load * load : -most * most + 4 * most * (load - most);
}

__device__ long long change(const State& state, const Solution&, int, const Data& data,
                            Step step) {
    const long long a = state.load[state.bin[step.item]], b = state.load[step.bin];
    const long long by =
        data.size[step.item] - (step.other == NONE ? 0 : data.size[step.other]);
    return worth(a - by, data) + worth(b + by, data) - worth(a, data) - worth(b, data);
}

__device__ long long apply(State& state, Changing& s, int, const Data& data, Step step) {
    const int a = state.bin[step.item], b = step.bin;
    const auto own = [&] {
        return price(state.load[a], state.count[a], data) +
               price(state.load[b], state.count[b], data);
    };
    const long long before = own();
    const auto move = [&](int item, int from, int to) {
        state.bin[item] = to;
        state.load[from] -= data.size[item], --state.count[from];
        state.load[to] += data.size[item], ++state.count[to];
        s.set(item, (to + 0.5f) / BINS);
    };
    move(step.item, a, b);
    if (step.other != NONE) move(step.other, b, a);
    return own() - before;
}
"""
_MOST = 1 << 16
"""The most bins, so that keys tell them apart."""


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
    size = np.asarray(sizes)
    if size.ndim != 1 or not size.size or size.dtype.kind not in "iu" or int(size.min()) < 0:
        raise UsageError("sizes: must be whole numbers of at least 0")
    capacity = whole_number("capacity", capacity, 2**30)
    if int(size.max()) > capacity:
        raise UsageError(f"sizes: {size.max()} exceeds capacity={capacity}. Leave it out")
    if int(size.sum()) >= 2**30:
        raise UsageError("sizes: their sum exceeds 2**30. Use a larger unit")
    if bins is None:
        bins = _first_fit(size, capacity)
        bins = min(len(size), bins + bins // 10 + 1)  # with room for moves
    bins = whole_number("bins", bins, _MOST)

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

    return keys(
        len(size),
        cost=filled(_COST, {"bins": bins}),
        state=_STATE,
        data={"size": size.astype(np.int32), "capacity": capacity},
        reference=costs,
        name=name or f"binpacking-{len(size)}-{capacity}",
        plot=draw,
    )


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
    file = NumberFile(path)
    n, capacity = file.numbers(2, "sizes", 1)
    sizes = file.numbers(n, "sizes of items")
    file.end()
    with refusing(path):
        return bin_packing(sizes, capacity)
