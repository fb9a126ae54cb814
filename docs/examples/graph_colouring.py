"""Graph colouring: order the nodes; each gets the first colour that none of its neighbours has.

python graph_colouring.py [SECONDS]      mpirun -n 2 python graph_colouring.py
islands run graph_colouring.py:problem
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands

# With equal numbers of colours, the solution with fewer nodes of the last colour is better.
COST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    unsigned long long taken[256] = {};  // colours of the neighbours of a node, as bits
    int last = 0, count[64] = {};
    for (int i = 0; i < n; ++i) {
        const int node = s[i];
        int colour = 0;
        while (taken[node] >> colour & 1) ++colour;
        for (int k = data.begin[node]; k < data.begin[node + 1]; ++k) {
            taken[data.partner[k]] |= 1ull << colour;
        }
        ++count[colour];
        last = max(last, colour);
    }
    return (long long)(last) * n + count[last];
}
"""


def make(n: int, colours: int = 8, seed: int = 1) -> islands.Problem:
    """Return a random graph of at most 256 nodes with a hidden colouring."""
    random = np.random.default_rng(seed)
    hidden = np.arange(n) % colours
    edges = np.triu((hidden[:, np.newaxis] != hidden) & (random.random((n, n)) < 0.2), 1)
    node, partner = (edges | edges.T).nonzero()
    begin = np.searchsorted(node, np.arange(n + 1))

    def cost(order: NDArray[Any]) -> int:
        colour = np.full(n, -1)
        for i in order:
            around = colour[partner[begin[i] : begin[i + 1]]]
            colour[i] = np.setdiff1d(np.arange(n), around)[0]
        return int(colour.max() * n + (colour == colour.max()).sum())

    data = {"begin": begin.astype(np.int32), "partner": partner.astype(np.int32)}
    return islands.permutation(
        n, cost=COST, data=data, reference=lambda s: np.array([*map(cost, s)]), name=f"colours-{n}"
    )


problem = make(n=100)

if __name__ == "__main__":
    result = islands.solve(problem, seconds=float([*sys.argv, "10"][1]), verbose=True)
    print("colours", (result.cost or 0) // problem.size + 1, "order", result.solution)
