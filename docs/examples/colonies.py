"""Solve a flow shop with two colonies, of random keys and of orders, that exchange solutions.

python colonies.py [SECONDS]
mpirun -n 2 python colonies.py
"""

import sys
from typing import Any

from flow_shop import make

import islands

COLONIES: list[dict[str, Any]] = [
    {"islands": 4, "algorithm": "brkga", "population": 64},
    {"islands": 4, "algorithm": "ga", "encoding": "permutation", "population": 64, "rate": 2},
]


def crossings(result: islands.Result) -> int:
    """Return how many migrants entered an island of another colony."""
    table = result.migrations().to_pydict()
    rows = zip(table["from_colony"], table["to_colony"], table["accepted"], strict=True)
    return sum(accepted and source != target for source, target, accepted in rows)


def main(seconds: float) -> None:
    """Solve a flow shop, and print which colony found the best solution."""
    result = islands.solve(
        make(jobs=60, machines=10),
        colonies=COLONIES,
        migration="ring",
        interval=10,
        seconds=seconds,
        seed=1,
        verbose=True,
    )
    for number, colony in enumerate(result.colonies):
        print(f"colony {number}: {colony['algorithm']} on {colony['encoding']}, {colony['cost']}")
    print("best found by colony", result.colony, "after", crossings(result), "crossings")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0)
