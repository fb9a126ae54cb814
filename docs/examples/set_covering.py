"""Set covering: choose the cheapest columns, so that each row is covered by a chosen column.

python set_covering.py [SECONDS]
mpirun -n 2 python set_covering.py
islands run set_covering.py:problem
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands

PENALTY = 1000

REPAIR = """
// Choose the cheapest column for each row without one, then remove the columns that are not needed,
// the most expensive first. The columns are numbered by increasing cost.
__device__ void repair(Changing& s, int n, const Data& data) {
    for (int r = 0; r < data.rows; ++r) {
        const int begin = data.row_begin[r], end = data.row_begin[r + 1];
        int k = begin;
        while (k < end && !s[data.columns_of[k]]) ++k;
        if (k == end) s.set(data.columns_of[begin], 1);
    }
    for (int c = n - 1; c >= 0; --c) {
        if (!s[c]) continue;
        bool needed = false;
        for (int i = data.column_begin[c]; i < data.column_begin[c + 1] && !needed; ++i) {
            const int r = data.rows_of[i];
            int covering = 0;
            for (int k = data.row_begin[r]; k < data.row_begin[r + 1] && covering < 2; ++k) {
                covering += s[data.columns_of[k]];
            }
            needed = covering < 2;
        }
        if (!needed) s.set(c, 0);
    }
}
"""

COST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int c = 0; c < n; ++c) sum += s[c] ? data.costs[c] : 0;
    for (int r = 0; r < data.rows; ++r) {
        int k = data.row_begin[r];
        while (k < data.row_begin[r + 1] && !s[data.columns_of[k]]) ++k;
        if (k == data.row_begin[r + 1]) sum += data.penalty;
    }
    return sum;
}
"""


def instance(columns: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return costs from 1 to 100, and which rows (first index) each column covers."""
    rng = np.random.default_rng(seed)
    covers = rng.random((columns // 5, columns)) < 0.05
    for row in covers:
        row[rng.choice(columns, 2, replace=False)] = True
    return np.sort(rng.integers(1, 101, columns)), covers


def make(columns: int, seed: int = 1) -> islands.Problem:
    """Return a random instance with a row for every five columns."""
    costs, covers = instance(columns, seed)

    def totals(chosen: NDArray[Any]) -> NDArray[Any]:
        uncovered = (chosen.astype(np.int64) @ covers.T == 0).sum(axis=1)
        total: NDArray[Any] = chosen @ costs + PENALTY * uncovered
        return total

    data = {
        "costs": costs,
        "rows": len(covers),
        "penalty": PENALTY,
        "row_begin": np.append(0, covers.sum(axis=1).cumsum()).astype(np.int32),
        "columns_of": covers.nonzero()[1].astype(np.int32),
        "column_begin": np.append(0, covers.sum(axis=0).cumsum()).astype(np.int32),
        "rows_of": covers.T.nonzero()[1].astype(np.int32),
    }
    name = f"set-covering-{len(covers)}x{columns}"
    return islands.subset(columns, cost=COST, repair=REPAIR, data=data, reference=totals, name=name)


problem = make(columns=500)

if __name__ == "__main__":
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    result = islands.solve(problem, seconds=seconds, seed=1, verbose=True)
    print("cost", result.cost, "chosen", result.solution)
