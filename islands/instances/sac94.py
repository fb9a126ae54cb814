"""Reads the original files of the SAC-94 suite of multidimensional knapsacks.

The format: m and n; n profits; m capacities; m rows of n weights; the optimum; then words, if any.
S. Khuri, T. Bäck, J. Heitkötter: The zero/one multiple knapsack problem and genetic algorithms.
Proceedings of the 1994 ACM Symposium on Applied Computing.
"""

from __future__ import annotations

from islands.instances.lines import shown
from islands.instances.mkp_file import MkpFile, made, read_row, read_sizes, read_values
from islands.instances.numbers import Numbers, is_number


def read_sac94(numbers: Numbers, name: str) -> MkpFile:
    """Return the instance that comes next, after which no number may come."""
    n, m = read_sizes(numbers, items_first=False)
    profits = read_row(numbers, n, "profits")
    capacities = read_values(numbers, m, "capacities")
    weights = [read_row(numbers, n, f"weights of constraint {i + 1}") for i in range(m)]
    best = read_row(numbers, 1, "optima")
    file = made(numbers, name, profits, weights, capacities, best)
    after = numbers.next()
    if after and is_number(after[0]):
        raise numbers.error(
            f"{shown(after[0])} comes after the optimum, the last number. "
            "Remove what follows, or correct the sizes"
        )
    return file
