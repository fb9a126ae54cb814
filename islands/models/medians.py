"""p-median: a given number of places, to which all customers have short ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.calls import explained
from islands.errors import UsageError
from islands.instances.sizes import MOST_IN_MATRIX, require_size
from islands.modelling.api import subset
from islands.modelling.kinds import whole_number
from islands.modelling.model import Model
from islands.models.files import NumberFile
from islands.models.graphs import read_edges
from islands.models.numbers import LARGEST_SUM
from islands.models.plain import Medians
from islands.problems.data import integers, name_or, read_array

_COST = """
// Without a place, each customer has a way longer than any; a place too many or too few costs more
// than all ways.
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0, chosen = 0;
    for (int i = threadIdx.x; i < data.customers; i += blockDim.x) {
        long long least = data.far;
        for (int j = 0; j < n; ++j) {
            if (s[j]) least = min(least, (long long)data.way[(long long)j * data.customers + i]);
        }
        sum += least;
    }
    for (int j = threadIdx.x; j < n; j += blockDim.x) chosen += s[j];
    chosen = block::sum(int64_t(chosen));
    const long long wrong = chosen < data.size ? data.size - chosen : chosen - data.size;
    return block::sum(int64_t(sum)) + data.price * wrong;
}
"""
_DIVIDED = "some nodes are not connected. Name a file whose graph is connected"
EXCHANGES = """
constexpr int NONE = -1;

// Drops an item, chooses another one, or both.
struct Step {
    int out, in;
};

// The items of a subset: the chosen ones first.
struct Choice {
    int *item, *place;
    int chosen;
    __device__ Choice(Memory& memory, int n)
        : item(memory.take<int>(n)), place(memory.take<int>(n)), chosen(0) {}

    __device__ void fill(const Solution& s, int n) {
        int end = n;
        chosen = 0;
        for (int i = 0; i < n; ++i) {
            const int at = s[i] ? chosen++ : --end;
            item[at] = i, place[i] = at;
        }
    }

    // An exchange, or one item more or less if their number is wrong.
    __device__ bool draw(int n, const Data& data, Random& random, Step& step) const {
        step.out = chosen >= data.size && chosen > 0 ? item[random.below(chosen)] : NONE;
        step.in = NONE;
        if (chosen <= data.size && chosen < n) step.in = item[chosen + random.below(n - chosen)];
        return (step.out != NONE && step.in != NONE) || chosen != data.size;
    }

    // What a step changes in the price of a wrong number of items.
    __device__ auto price(const Data& data, const Step& step) const {
        const auto missing = [&](long long count) {
            return count < data.size ? data.size - count : count - data.size;
        };
        const int after = chosen + (step.in != NONE) - (step.out != NONE);
        return data.price * (missing(chosen) - missing(after));
    }

    __device__ void move(int i, int to) {
        const int from = place[i], other = item[to];
        item[from] = other, place[other] = from;
        item[to] = i, place[i] = to;
    }

    template <class Entries>
    __device__ void make(Entries& s, const Step& step) {
        if (step.out != NONE) move(step.out, --chosen), s.set(step.out, 0);
        if (step.in != NONE) move(step.in, chosen++), s.set(step.in, 1);
    }
};
"""
"""Steps of models that choose a given number of items; their states share them."""
_STATE = (
    EXCHANGES
    + """
struct State {
    int *first, *second;  // of each customer: the two nearest chosen places
    Choice choice;
    __device__ State(Memory& memory, int n, const Data& data)
        : first(memory.take<int>(data.customers)), second(memory.take<int>(data.customers)),
          choice(memory, n) {}
};

__device__ long long way(const Data& data, int place, int customer) {
    return place == NONE ? data.far : data.way[(long long)place * data.customers + customer];
}

// Find the two nearest chosen places of a customer.
__device__ void find(State& state, const Data& data, int i) {
    int first = NONE, second = NONE;
    for (int k = 0; k < state.choice.chosen; ++k) {
        const int j = state.choice.item[k];
        if (first == NONE || way(data, j, i) < way(data, first, i)) {
            second = first, first = j;
        } else if (second == NONE || way(data, j, i) < way(data, second, i)) {
            second = j;
        }
    }
    state.first[i] = first, state.second[i] = second;
}

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    if (threadIdx.x != 0) return;  // a block shares costs only
    state.choice.fill(s, n);
    for (int i = 0; i < data.customers; ++i) find(state, data, i);
}

__device__ bool propose(const State& state, const Solution&, int n, const Data& data,
                        Random& random, Step& step) {
    return state.choice.draw(n, data, random, step);
}

__device__ long long change(const State& state, const Solution&, int, const Data& data,
                            Step step) {
    long long by = -state.choice.price(data, step);
    for (int i = 0; i < data.customers; ++i) {
        const long long now = way(data, state.first[i], i);
        const long long rest =
            state.first[i] == step.out ? way(data, state.second[i], i) : now;
        by += (step.in == NONE ? rest : min(rest, way(data, step.in, i))) - now;
    }
    return by;
}

__device__ long long apply(State& state, Changing& s, int n, const Data& data, Step step) {
    if (threadIdx.x != 0) return 0;
    const long long by = change(state, s.solution, n, data, step);
    state.choice.make(s, step);
    for (int i = 0; i < data.customers; ++i) {
        const bool is_lost = step.out != NONE &&
                             (state.first[i] == step.out || state.second[i] == step.out);
        if (is_lost) {
            find(state, data, i);
        } else if (step.in != NONE) {
            if (state.first[i] == NONE || way(data, step.in, i) < way(data, state.first[i], i)) {
                state.second[i] = state.first[i], state.first[i] = step.in;
            } else if (state.second[i] == NONE ||
                       way(data, step.in, i) < way(data, state.second[i], i)) {
                state.second[i] = step.in;
            }
        }
    }
    return by;
}
"""
)


@explained
def p_median(distances: ArrayLike, p: int, *, name: str | None = None) -> Model:
    """Return the problem of `p` places with the least sum of the ways of all customers.

    `distances` has a row for each customer and a column for each place, whole numbers of at least
    0, perhaps times the demand of the customer. Each customer goes to the nearest chosen place. A
    solution has 1 for the chosen places.

    >>> problem = islands.models.p_median([[0, 3, 9], [3, 0, 7], [9, 7, 0]], 2)
    >>> islands.solve(problem, generations=20).cost
    3
    """
    way = integers("distances", read_array("distances", distances, 2), 2**31 - 2)
    customers, n = way.shape
    p = whole_number("p", p, n)
    far = int(way.max()) + 1
    of_places = np.ascontiguousarray(way.T).astype(np.int32)
    price = far * customers + 1
    if price * n >= LARGEST_SUM:
        raise UsageError(
            f"distances: costs may reach {price * n}, the largest distance times customers and"
            f" places, but must be below {LARGEST_SUM}. Use a larger unit"
        )

    def sums(chosen: NDArray[Any]) -> NDArray[Any]:
        found = [
            way[:, each == 1].min(axis=1, initial=far).sum(dtype=np.int64)
            + price * abs(int(each.sum()) - p)
            for each in chosen
        ]
        return np.array(found, np.int64)

    def draw(solution: Any, axes: Any) -> None:
        own = np.flatnonzero(np.asarray(solution))
        nearest = own[way[:, own].argmin(axis=1)]
        axes.scatter(nearest, range(customers), c=[f"C{each % 10}" for each in nearest], s=4)
        axes.set(xlabel="place", ylabel="customer")

    model = subset(
        n,
        cost=_COST,
        state=_STATE,
        data={
            "customers": customers,
            "way": of_places,
            "size": p,
            "far": far,
            "price": price,
        },
        cooperative=True,
        reference=sums,
        name=name_or(name, f"pmedian-{customers}x{n}-{p}"),
        plot=draw,
    )
    model.plain = lambda: Medians(of_places, p)
    return model


def read(path: Path) -> Model:
    """Return the problem in a file of OR-Library: nodes, edges, p; edges, of which the last counts.

    Each node is a customer and a place, and ways are shortest paths.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    with NumberFile.open(path) as file:
        n, m, p = file.numbers(3, "sizes", 1)
        require_size("its network", n, "nodes", MOST_IN_MATRIX, file.error)
        if m < n - 1:
            raise file.error(_DIVIDED)
        edges = read_edges(file, n, m)
        keys = edges[:, :2].min(axis=1) * (n + 1) + edges[:, :2].max(axis=1)
        _, last = np.unique(keys[::-1], return_index=True)
        one, other, each = (edges[::-1][last] - [1, 1, 0]).T
        graph = csr_array((each.astype(np.float64), (one, other)), shape=(n, n))
        ways = dijkstra(graph, directed=False)
        if not np.isfinite(ways).all():
            raise file.error(_DIVIDED)
        return p_median(ways.astype(np.int64), p)
