"""P-median: open p depots to minimise the sum of distances from all places to the nearest depot.

python p_median.py [SECONDS]      mpirun -n 2 python p_median.py
islands run p_median.py:problem
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands

COST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = 0; i < n; ++i) {
        int nearest = 1 << 30;
        for (int j = 0; j < n; ++j) {
            if (s[j]) nearest = min(nearest, data.distances[i * n + j]);
        }
        sum += nearest;
    }
    return sum;
}
"""


def make(n: int, seed: int = 1) -> islands.Problem:
    """Return random places in a square; exactly a tenth of them get a depot."""
    places = np.random.default_rng(seed).integers(0, 1001, (n, 2))
    steps = places[:, np.newaxis] - places
    distances = np.rint(np.hypot(steps[..., 0], steps[..., 1])).astype(np.int32)

    def sums(chosen: NDArray[Any]) -> NDArray[Any]:
        return np.array([distances[:, row == 1].min(axis=1).sum() for row in chosen])

    data, name = {"distances": distances}, f"p-median-{n}-{n // 10}"
    return islands.subset(n, choose=n // 10, cost=COST, data=data, reference=sums, name=name)


problem = make(n=100)

if __name__ == "__main__":
    result = islands.solve(problem, seconds=float([*sys.argv, "10"][1]), verbose=True)
    print("distances", result.cost, "depots", np.flatnonzero(np.asarray(result.solution)))
