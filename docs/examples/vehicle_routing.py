"""Capacitated vehicle routing: an order of the customers, which the cost cuts into the best routes.

python vehicle_routing.py [SECONDS]
mpirun -n 2 python vehicle_routing.py
islands run vehicle_routing.py:problem
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands

# best[j] is the length of the best routes for the first j customers of the order. The depot is
# number 0, customer i number i + 1.
COST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long best[1025];
    for (int j = 1; j <= n; ++j) best[j] = 1LL << 60;
    best[0] = 0;
    for (int i = 0; i < n; ++i) {  // a route that begins at place i and ends at place j
        long long length = 0, load = 0;
        int from = 0;
        for (int j = i; j < n; ++j) {
            const int to = s[j] + 1;
            load += data.demands[s[j]];
            if (load > data.capacity) break;
            length += data.distances[from * (n + 1) + to];
            best[j + 1] = min(best[j + 1], best[i] + length + data.distances[to * (n + 1)]);
            from = to;
        }
    }
    return best[n];
}
"""


def routing(
    places: NDArray[Any], demands: NDArray[Any], capacity: int, name: str
) -> islands.Problem:
    """Return an instance with at most 1024 customers; the first of the `places` is the depot."""
    between = places[:, np.newaxis] - places
    distances = np.rint(np.hypot(between[..., 0], between[..., 1])).astype(np.int32)
    n = len(demands)

    def lengths(orders: NDArray[Any]) -> NDArray[Any]:
        best = np.full((len(orders), n + 1), 1 << 60)
        best[:, 0] = 0
        for i in range(n):
            length, load, last = np.zeros((3, len(orders)), np.int64)
            for j in range(i, n):
                load += demands[orders[:, j]]
                if not (load <= capacity).any():
                    break
                length += distances[last, last := orders[:, j] + 1]
                total = best[:, i] + length + distances[last, 0]
                total[load > capacity] = 1 << 60
                best[:, j + 1] = np.minimum(best[:, j + 1], total)
        return best[:, n]

    data = {"distances": distances, "demands": demands, "capacity": capacity}
    return islands.permutation(n, cost=COST, data=data, reference=lengths, name=name)


def make(customers: int, seed: int = 1) -> islands.Problem:
    """Return customers in a square with the depot in its centre; a route serves about ten."""
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 1001, (customers + 1, 2))
    places[0] = 500
    demands = rng.integers(1, 20, customers)
    return routing(places, demands, capacity=100, name=f"vehicle-routing-{customers}")


problem = make(customers=100)

if __name__ == "__main__":
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    result = islands.solve(problem, seconds=seconds, seed=1, verbose=True)
    print("length", result.cost, "order", result.solution)
