"""Permutation flow shop: order the jobs, and minimise the time at which the last machine ends.

python flow_shop.py [SECONDS]      mpirun -n 2 python flow_shop.py
islands run flow_shop.py:problem --improver reinsert
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands

COST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long done[32];  // when each machine has finished the jobs so far
    for (int k = 0; k < data.machines; ++k) done[k] = 0;
    for (int i = 0; i < n; ++i) {
        const int* times = data.times + s[i] * data.machines;
        done[0] += times[0];
        for (int k = 1; k < data.machines; ++k) done[k] = max(done[k], done[k - 1]) + times[k];
    }
    return done[data.machines - 1];
}
"""


def make(jobs: int, machines: int = 20, seed: int = 1) -> islands.Problem:
    """Return a random instance; `machines` is at most 32."""
    times = np.random.default_rng(seed).integers(1, 100, (jobs, machines), np.int32)

    def makespans(orders: NDArray[Any]) -> NDArray[Any]:
        done = np.zeros((len(orders), machines), np.int64)
        for job in orders.T:  # the next job of each order
            done[:, 0] += times[job, 0]
            for k in range(1, machines):
                done[:, k] = np.maximum(done[:, k], done[:, k - 1]) + times[job, k]
        return done[:, -1]

    data = {"times": times, "machines": machines}
    name = f"flow-shop-{jobs}x{machines}"
    return islands.permutation(jobs, cost=COST, data=data, reference=makespans, name=name)


problem = make(jobs=100)

if __name__ == "__main__":
    result = islands.solve(problem, seconds=float([*sys.argv, "10"][1]), verbose=True)
    print("makespan", result.cost, "order", result.solution)
