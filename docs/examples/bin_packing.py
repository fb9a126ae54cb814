"""Bin packing: order the items; each is put into the first bin with enough room.

python bin_packing.py [SECONDS]      mpirun -n 2 python bin_packing.py
islands run bin_packing.py:problem
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands

# With equal numbers of bins, the solution whose least loaded bin has the smaller load is better.
COST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    int bins = 0, load[256] = {};
    for (int i = 0; i < n; ++i) {
        const int size = data.sizes[s[i]];
        int bin = 0;
        while (load[bin] + size > data.capacity) ++bin;
        load[bin] += size;
        bins = max(bins, bin + 1);
    }
    int least = data.capacity;
    for (int bin = 0; bin < bins; ++bin) least = min(least, load[bin]);
    return (long long)(bins - 1) * data.capacity + least;
}
"""


def make(n: int, capacity: int = 1000, seed: int = 1) -> islands.Problem:
    """Return an instance of at most 256 items, which exactly fill bins of four items each."""
    random = np.random.default_rng(seed)
    cuts = np.sort(random.integers(1, capacity, (n // 4, 3)), axis=1)
    sizes = np.diff(cuts, axis=1, prepend=0, append=capacity).ravel().astype(np.int32)

    def costs(orders: NDArray[Any]) -> NDArray[Any]:
        rows, load = np.arange(len(orders)), np.zeros((len(orders), n), int)
        for items in orders.T:
            fits = load + sizes[items, np.newaxis] <= capacity
            load[rows, fits.argmax(axis=1)] += sizes[items]
        bins = (load > 0).sum(axis=1)
        least = np.where(load > 0, load, capacity).min(axis=1)
        total: NDArray[Any] = (bins - 1) * capacity + least
        return total

    data, name = {"sizes": sizes, "capacity": capacity}, f"bins-{n}"
    return islands.permutation(n, cost=COST, data=data, reference=costs, name=name)


problem = make(n=120)

if __name__ == "__main__":
    result = islands.solve(problem, seconds=float([*sys.argv, "10"][1]), verbose=True)
    print("bins", (result.cost or 0) // 1000 + 1, "order", result.solution)
