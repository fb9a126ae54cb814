"""Minimise the shifted Rastrigin function of a vector in a box; it has many local minima.

python continuous.py [SECONDS]      mpirun -n 2 python continuous.py
islands run continuous.py:problem --algorithm pso
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands

# exact::cos is bit-identical on all devices, unlike the cos of the compilers' libraries.
COST = """
__device__ double cost(const Solution& s, int n, const Data& data) {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        const double x = s[i] - data.shift[i];
        sum += x * x + 10 - 10 * exact::cos(6.283185307179586 * x);
    }
    return sum;
}
"""


def make(n: int, seed: int = 1) -> islands.Problem:
    """Return a function of n coordinates from -5.12 to 5.12, with its minimum at a random point."""
    shift = np.random.default_rng(seed).uniform(-4, 4, n)

    def values(vectors: NDArray[Any]) -> NDArray[Any]:
        x = vectors - shift
        sums: NDArray[Any] = (x * x + 10 - 10 * np.cos(2 * np.pi * x)).sum(axis=1)
        return sums

    data = {"shift": shift}
    return islands.real(
        -5.12, 5.12, n, cost=COST, data=data, reference=values, name=f"rastrigin-{n}"
    )


problem = make(n=50)

if __name__ == "__main__":
    result = islands.solve(problem, seconds=float([*sys.argv, "10"][1]), verbose=True)
    print("value", result.cost, "vector", result.solution)
