"""Binary quadratic programming (QUBO): choose items to maximise the sum over chosen pairs.

python binary_quadratic.py [SECONDS]      mpirun -n 2 python binary_quadratic.py
islands run binary_quadratic.py:problem
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
        if (!s[i]) continue;
        for (int k = data.begin[i]; k < data.begin[i + 1]; ++k) {
            sum += s[data.partner[k]] ? data.value[k] : 0;
        }
    }
    return sum;
}
"""


def matrix(n: int, seed: int) -> NDArray[np.int64]:
    """Return an upper triangle with values from -100 to 100, of which nine tenths are zero."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-100, 101, (n, n))
    return np.triu(np.where(rng.random((n, n)) < 0.1, values, 0))


def make(n: int, seed: int = 1) -> islands.Problem:
    """Return a random instance."""
    q = matrix(n, seed)

    def values(chosen: NDArray[Any]) -> NDArray[Any]:
        x = chosen.astype(np.int64)
        sums: NDArray[Any] = (x @ q * x).sum(axis=1)
        return sums

    row, partner = q.nonzero()
    data = {
        "begin": np.searchsorted(row, np.arange(n + 1)).astype(np.int32),
        "partner": partner.astype(np.int32),
        "value": q[row, partner].astype(np.int32),
    }
    name = f"qubo-{n}"
    return islands.subset(n, cost=COST, data=data, reference=values, maximise=True, name=name)


problem = make(n=250)

if __name__ == "__main__":
    result = islands.solve(problem, seconds=float([*sys.argv, "10"][1]), verbose=True)
    print("value", result.cost, "chosen", result.solution)
