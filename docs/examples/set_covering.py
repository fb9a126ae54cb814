"""Set covering: choose columns of minimum cost, so that each row is covered by a chosen column.

python set_covering.py [SECONDS]      mpirun -n 2 python set_covering.py
"""

import sys

import numpy as np

import islands

COST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0, count[256] = {};  // count[r] chosen columns cover row r
    for (int c = 0; c < n; ++c) {
        sum += s[c] ? data.costs[c] : 0;
        if (s[c]) for (int r = 0; r < data.m; ++r) count[r] += data.covers[c * data.m + r];
    }
    for (int r = 0; r < data.m; ++r) sum += count[r] ? 0 : 1000;
    return sum;
}"""

# Add columns for uncovered rows, and drop redundant ones. Columns are numbered by increasing cost.
REPAIR = """
__device__ void repair(Changing& s, int n, const Data& data) {
    int count[256] = {};
    auto add = [&](int c, int times) {
        for (int r = 0; r < data.m; ++r) count[r] += times * data.covers[c * data.m + r];
    };
    for (int c = 0; c < n; ++c) if (s[c]) add(c, 1);
    for (int r = 0, c = 0; r < data.m; ++r, c = 0) {
        while (!count[r] && !data.covers[c * data.m + r]) ++c;
        if (!count[r]) s.set(c, 1), add(c, 1);  // the cheapest column that covers row r
    }
    for (int c = n - 1; c >= 0; --c) {
        int r = s[c] ? 0 : data.m;  // find a row that only column c covers
        while (r < data.m && !(data.covers[c * data.m + r] && count[r] == 1)) ++r;
        if (s[c] && r == data.m) s.set(c, 0), add(c, -1);
    }
}"""


def make(columns: int, seed: int = 1) -> islands.Problem:
    """Return a random instance with a row for every five columns, at most 256 rows."""
    rng = np.random.default_rng(seed)
    covers = rng.random((columns // 5, columns)) < 0.05
    for row in covers:
        row[rng.choice(columns, 2, replace=False)] = True
    costs = np.sort(rng.integers(1, 101, columns))
    return islands.subset(
        columns, name=f"set-covering-{columns // 5}x{columns}", cost=COST, repair=REPAIR,
        data={"costs": costs, "m": columns // 5, "covers": covers.T},
        reference=lambda x: x @ costs + 1000 * (x.astype(int) @ covers.T == 0).sum(axis=1),
    )  # fmt: skip


problem = make(columns=500)
if __name__ == "__main__":
    result = islands.solve(problem, seconds=float([*sys.argv, "10"][1]), verbose=True)
    print("cost", result.cost, "columns", np.flatnonzero(np.asarray(result.solution)))
