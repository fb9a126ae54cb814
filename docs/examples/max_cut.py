"""Maximum cut: divide the nodes of a graph into two sides, and maximise the weight between them.

python max_cut.py [SECONDS]      mpirun -n 2 python max_cut.py
islands run max_cut.py:problem
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands

COST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int e = 0; e < data.count; ++e) {
        sum += s[data.ends[2 * e]] != s[data.ends[2 * e + 1]] ? data.weights[e] : 0;
    }
    return sum;
}
"""


def make(n: int, seed: int = 1) -> islands.Problem:
    """Return a random graph with a hidden cut of all positive weights, which is optimal."""
    random = np.random.default_rng(seed)
    first, second = np.triu_indices(n, 1)
    exists = random.random(len(first)) < 8 / n
    ends = np.column_stack([first, second])[exists].astype(np.int32)
    hidden = random.integers(0, 2, n)
    is_cut = hidden[ends[:, 0]] != hidden[ends[:, 1]]
    weights = random.integers(1, 10, len(ends)) * np.where(is_cut, 1, -1)

    def values(sides: NDArray[Any]) -> NDArray[Any]:
        is_between = sides[:, ends[:, 0]] != sides[:, ends[:, 1]]
        sums: NDArray[Any] = (is_between * weights).sum(axis=1)
        return sums

    data = {"ends": ends, "weights": weights.astype(np.int32), "count": len(ends)}
    name = f"max-cut-{n}"
    return islands.subset(n, cost=COST, data=data, reference=values, maximise=True, name=name)


problem = make(n=400)

if __name__ == "__main__":
    result = islands.solve(problem, seconds=float([*sys.argv, "10"][1]), verbose=True)
    print("weight", result.cost, "side", result.solution)
