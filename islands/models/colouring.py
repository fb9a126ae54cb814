"""Graph colouring: few colours, such that no edge joins two nodes of the same colour."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.errors import UsageError
from islands.modelling.api import keys
from islands.modelling.model import Model
from islands.models.files import Words, refusing
from islands.models.graphs import draw_graph, neighbours, pairs_of
from islands.models.texts import filled

_COST = """
constexpr int COLOURS = {colours};
constexpr bool COUNTS = {counts};  // of colours in use; otherwise all may be used

// The colour of a node is a whole number, its key times the number of colours.
__device__ int colour_of(float key) { return int(key * COLOURS); }

__device__ long long cost(const Solution& s, int n, const Data& data) {
    unsigned is_used[(COLOURS + 31) / 32] = {};
    long long sum = 0;
    for (int i = 0; i < n; ++i) {
        const int own = colour_of(s[i]);
        if (COUNTS && !(is_used[own / 32] >> own % 32 & 1)) {
            is_used[own / 32] |= 1u << own % 32;
            ++sum;
        }
        for (long long k = data.first[i]; k < data.first[i + 1] && data.other[k] < i; ++k) {
            sum += (1 + COUNTS) * (colour_of(s[data.other[k]]) == own);
        }
    }
    return sum;
}
"""
_STATE = """
struct State {
    int *colour, *size, *clashes;  // of each node; of each colour: its nodes, and edges inside
    int *clash, *bad, *place;      // of each node: neighbours of its colour; the nodes with some
    int bad_count;
    __device__ State(Memory& memory, int n, const Data&)
        : colour(memory.take<int>(n)), size(memory.take<int>(COLOURS)),
          clashes(memory.take<int>(COLOURS)), clash(memory.take<int>(n)),
          bad(memory.take<int>(n)), place(memory.take<int>(n)), bad_count(0) {}
};

struct Step {
    int node, colour;
};

__device__ void set_clash(State& state, int i, int clash) {
    const bool was = state.clash[i] > 0, is = clash > 0;
    state.clash[i] = clash;
    if (is && !was) state.place[i] = state.bad_count, state.bad[state.bad_count++] = i;
    if (was && !is) {
        const int at = state.place[i], last = state.bad[--state.bad_count];
        state.bad[at] = last, state.place[last] = at;
    }
}

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    for (int c = 0; c < COLOURS; ++c) state.size[c] = state.clashes[c] = 0;
    for (int i = 0; i < n; ++i) {
        state.clash[i] = 0;
        ++state.size[state.colour[i] = colour_of(s[i])];
    }
    for (int i = 0; i < n; ++i) {
        int clash = 0;
        for (long long k = data.first[i]; k < data.first[i + 1]; ++k) {
            clash += state.colour[data.other[k]] == state.colour[i];
        }
        state.clashes[state.colour[i]] += clash;
        set_clash(state, i, clash);
    }
    for (int c = 0; c < COLOURS; ++c) state.clashes[c] /= 2;
}

// A node with a clash, or any if colours are counted, gets another colour, seldom an unused one.
__device__ bool propose(const State& state, const Solution&, int n, const Data&, Random& random,
                        Step& step) {
    if (!COUNTS && state.bad_count == 0) return false;
    step.node = COUNTS ? random.below(n) : state.bad[random.below(state.bad_count)];
    const bool takes_any = !COUNTS || random.below(8) == 0;
    for (int attempt = 0; attempt < 8; ++attempt) {
        step.colour = random.below(COLOURS);
        if (step.colour == state.colour[step.node]) continue;
        if (takes_any || state.size[step.colour]) return true;
    }
    return false;
}

__device__ int clash_with(const State& state, const Data& data, const Step& step) {
    int clash = 0;
    for (long long k = data.first[step.node]; k < data.first[step.node + 1]; ++k) {
        clash += state.colour[data.other[k]] == step.colour;
    }
    return clash;
}

// What large colours and few clashes are worth: twice the size times the edges inside, less the
// square of the size (Johnson et al. 1991). The number of colours alone would show no way down.
__device__ long long worth(long long size, long long clashes) {
    return size * (2 * clashes - size);
}

__device__ long long change(const State& state, const Solution&, int, const Data& data,
                            Step step) {
    const int old = state.colour[step.node], clash = state.clash[step.node];
    const int after = clash_with(state, data, step);
    if (!COUNTS) return after - clash;
    const int a = state.size[old], b = state.size[step.colour];
    const int ca = state.clashes[old], cb = state.clashes[step.colour];
    return worth(a - 1, ca - clash) + worth(b + 1, cb + after) - worth(a, ca) - worth(b, cb);
}

__device__ long long apply(State& state, Changing& s, int, const Data& data, Step step) {
    const int old = state.colour[step.node], before = state.clash[step.node];
    const int after = clash_with(state, data, step);
    for (long long k = data.first[step.node]; k < data.first[step.node + 1]; ++k) {
        const int j = data.other[k], own = state.colour[j];
        if (own == old) set_clash(state, j, state.clash[j] - 1);
        if (own == step.colour) set_clash(state, j, state.clash[j] + 1);
    }
    set_clash(state, step.node, after);
    state.colour[step.node] = step.colour;
    state.clashes[old] -= before, state.clashes[step.colour] += after;
    const int less = --state.size[old] == 0, more = state.size[step.colour]++ == 0;
    s.set(step.node, (step.colour + 0.5f) / COLOURS);
    return COUNTS ? 2 * (after - before) + more - less : after - before;
}
"""
_MOST = 1 << 16
"""The most colours, so that keys tell them apart."""


def graph_colouring(
    edges: ArrayLike, colours: int | None = None, *, name: str | None = None
) -> Model:
    """Return the problem of colours for nodes such that no edge joins two of the same colour.

    `edges` is a row of two nodes for each edge; nodes are numbered from 0. The cost is the number
    of colours in use, and 2 for each edge within a colour. With `colours`, that many are allowed,
    and the cost is the number of edges within a colour. `colours_of` returns the colours of a
    solution, which consists of keys.

    >>> problem = islands.models.graph_colouring([[0, 1], [1, 2], [2, 0], [2, 3]])
    >>> islands.solve(problem, generations=20).cost
    3
    """
    pairs, n = pairs_of(edges)
    first, other, _ = neighbours(pairs, np.ones(len(pairs), np.int64), n)
    counts = colours is None
    if colours is None:
        colours = _greedy(first, other)
    if not 1 <= colours <= _MOST:
        raise UsageError(f"colours={colours}: must be from 1 to {_MOST}")
    words = {"colours": colours, "counts": str(counts).lower()}
    once = np.unique(np.sort(pairs, axis=1), axis=0)

    def costs(solutions: NDArray[Any]) -> NDArray[Any]:
        own = colours_of(solutions, colours)
        clashes = (own[:, once[:, 0]] == own[:, once[:, 1]]).sum(axis=1)
        used = np.array([len(np.unique(each)) for each in own])
        return np.asarray(2 * clashes + used if counts else clashes)

    return keys(
        n,
        cost=filled(_COST, words),
        state=_STATE,
        data={"first": first, "other": other},
        reference=costs,
        name=name or f"colouring-{n}-{colours}",
        plot=lambda solution, axes: draw_graph(axes, once, colours_of(solution, colours)),
    )


def colours_of(solution: ArrayLike, colours: int) -> NDArray[np.int64]:
    """Return the colour of each node in a solution, of that many colours."""
    keys = np.asarray(solution, np.float32)
    return (keys * np.float32(colours)).astype(np.int64)


def _greedy(first: NDArray[np.int64], other: NDArray[np.int32]) -> int:
    """Return how many colours are needed if nodes take the first free one, the busiest first."""
    colour = np.full(len(first) - 1, -1)
    for i in np.argsort(-np.diff(first), kind="stable").tolist():
        taken = set(colour[other[first[i] : first[i + 1]]].tolist())
        colour[i] = next(c for c in range(len(colour)) if c not in taken)
    return int(colour.max()) + 1


def read(path: Path) -> Model:
    """Return the problem in a file of DIMACS: lines 'p edge nodes edges' and 'e node node'."""
    words = Words(path, comment=b"c")
    edges = [line[1:3] for line in words.lines if line[0] == b"e"]
    if not edges or not all(each.isdigit() for edge in edges for each in edge):
        raise words.error("has no lines 'e node node' with nodes from 1. Name another file")
    with refusing(path):
        return graph_colouring(np.array(edges, dtype=np.int64) - 1)
