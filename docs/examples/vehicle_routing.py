"""Capacitated vehicle routing: order customers; the cost function finds the best routes.

python vehicle_routing.py [SECONDS]      mpirun -n 2 python vehicle_routing.py
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands

# best[j] is the length of the best routes for the first j customers of the order. In `distances`,
# the depot is number 0, and customer i number i + 1.
COST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long best[1025] = {};
    for (int j = 1; j <= n; ++j) {
        long long length = 0, load = 0;  // of the last route, from position i to j - 1
        best[j] = 1LL << 60;
        for (int i = j - 1, next = 0; i >= 0; next = s[i--] + 1) {
            load += data.demands[s[i]];
            if (load > data.capacity) break;
            const int* from = data.distances + (s[i] + 1) * (n + 1);
            length += from[next];
            best[j] = min(best[j], best[i] + from[0] + length);
        }
    }
    return best[n];
}"""


def routing(places: NDArray[Any], demands: NDArray[Any], capacity: int) -> islands.Problem:
    """Return a problem of at most 1024 customers; the first of the `places` is the depot."""
    between = places[:, np.newaxis] - places
    distances = np.rint(np.hypot(between[..., 0], between[..., 1])).astype(np.int32)

    def lengths(orders: NDArray[Any]) -> NDArray[Any]:
        load, stops = demands[orders].cumsum(axis=1), orders + 1
        legs = np.insert(distances[stops[:, :-1], stops[:, 1:]], 0, 0, axis=1)
        home, way = distances[stops, 0], legs.cumsum(axis=1)
        best = np.zeros((len(orders), 1), np.int64)
        for j in range(len(demands)):  # the last route is from position i to position j
            i, end = slice(0, j + 1), slice(j, j + 1)
            fits = load[:, end] - load[:, i] + demands[orders[:, i]] <= capacity
            total = best + home[:, i] + way[:, end] - way[:, i] + home[:, end]
            best = np.c_[best, np.where(fits, total, 1 << 60).min(axis=1)]
        return best[:, -1]

    data = {"distances": distances, "demands": demands, "capacity": capacity}
    n, name = len(demands), f"routes-{len(demands)}-capacity-{capacity}"
    return islands.permutation(n, cost=COST, data=data, reference=lengths, name=name)


rng = np.random.default_rng(1)
problem = routing(rng.integers(0, 1001, (101, 2)), rng.integers(1, 20, 100), capacity=100)
if __name__ == "__main__":
    result = islands.solve(problem, seconds=float([*sys.argv, "10"][1]), verbose=True)
    print("length", result.cost, "order", result.solution)
