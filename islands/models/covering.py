"""Set covering: the cheapest columns that cover all rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.errors import UsageError
from islands.modelling.api import subset
from islands.modelling.model import Model
from islands.models.files import Words, refusing

_COST = """
// A row without a chosen column costs one more than its cheapest column.
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int j = threadIdx.x; j < n; j += blockDim.x) sum += s[j] ? data.cost[j] : 0;
    for (int r = threadIdx.x; r < data.rows; r += blockDim.x) {
        bool is_covered = false;
        for (long long k = data.row_first[r]; k < data.row_first[r + 1] && !is_covered; ++k) {
            is_covered = s[data.column[k]];
        }
        if (!is_covered) sum += data.price[r];
    }
    return block::sum(int64_t(sum));
}
"""
_STATE = """
constexpr int NONE = -1;

struct State {
    int* count;           // of the chosen columns of each row
    int *chosen, *place;  // the chosen columns, and the place of each column among them
    int *open, *open_at;  // the rows without a chosen column, and the place of each row
    int chosen_count, open_count;
    __device__ State(Memory& memory, int n, const Data& data)
        : count(memory.take<int>(data.rows)), chosen(memory.take<int>(n)),
          place(memory.take<int>(n)), open(memory.take<int>(data.rows)),
          open_at(memory.take<int>(data.rows)), chosen_count(0), open_count(0) {}
};

// Drops a column, chooses another one, or both.
struct Step {
    int out, in;
};

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    if (threadIdx.x != 0) return;
    for (int j = 0; j < n; ++j) {
        if (s[j]) state.place[j] = state.chosen_count, state.chosen[state.chosen_count++] = j;
    }
    for (int r = 0; r < data.rows; ++r) {
        int count = 0;
        for (long long k = data.row_first[r]; k < data.row_first[r + 1]; ++k) {
            count += s[data.column[k]];
        }
        state.count[r] = count;
        if (count == 0) state.open_at[r] = state.open_count, state.open[state.open_count++] = r;
    }
}

__device__ int column_of(const Data& data, int row, Random& random) {
    const int count = int(data.row_first[row + 1] - data.row_first[row]);
    return data.column[data.row_first[row] + random.below(count)];
}

__device__ bool propose(const State& state, const Solution& s, int n, const Data& data,
                        Random& random, Step& step) {
    step = {NONE, NONE};
    const int kind = random.below(4);
    if (kind == 0 && state.open_count > 0) {
        step.in = column_of(data, state.open[random.below(state.open_count)], random);
        return true;
    }
    if (state.chosen_count == 0) return false;
    step.out = state.chosen[random.below(state.chosen_count)];
    if (kind <= 1) return true;
    const int count = int(data.first[step.out + 1] - data.first[step.out]);
    const int row = kind == 2 && state.open_count > 0
                        ? state.open[random.below(state.open_count)]
                        : data.row[data.first[step.out] + random.below(count)];
    step.in = column_of(data, row, random);
    return !s[step.in];
}

__device__ long long change(const State& state, const Solution&, int, const Data& data,
                            Step step) {
    long long sum = 0, own = 0, end = 0;
    if (step.out != NONE) {
        own = data.first[step.out], end = data.first[step.out + 1];
        sum -= data.cost[step.out];
    }
    long long k = own;
    for (; own < end; ++own) {
        if (state.count[data.row[own]] == 1) sum += data.price[data.row[own]];
    }
    if (step.in == NONE) return sum;
    sum += data.cost[step.in];
    for (long long i = data.first[step.in]; i < data.first[step.in + 1]; ++i) {
        const int row = data.row[i], count = state.count[row];
        if (count > 1) continue;
        while (k < end && data.row[k] < row) ++k;
        const bool is_left = k < end && data.row[k] == row;
        if (count == int(is_left)) sum -= data.price[row];
    }
    return sum;
}

__device__ void follow(State& state, const Data& data, int column, int by) {
    for (long long i = data.first[column]; i < data.first[column + 1]; ++i) {
        const int row = data.row[i];
        const int before = state.count[row];
        state.count[row] += by;
        if (before == 0) {
            const int at = state.open_at[row], last = state.open[--state.open_count];
            state.open[at] = last, state.open_at[last] = at;
        } else if (state.count[row] == 0) {
            state.open_at[row] = state.open_count, state.open[state.open_count++] = row;
        }
    }
}

__device__ long long apply(State& state, Changing& s, int n, const Data& data, Step step) {
    if (threadIdx.x != 0) return 0;
    const long long by = change(state, s.solution, n, data, step);
    if (step.out != NONE) {
        follow(state, data, step.out, -1);
        const int at = state.place[step.out], last = state.chosen[--state.chosen_count];
        state.chosen[at] = last, state.place[last] = at;
        s.set(step.out, 0);
    }
    if (step.in != NONE) {
        follow(state, data, step.in, 1);
        state.place[step.in] = state.chosen_count, state.chosen[state.chosen_count++] = step.in;
        s.set(step.in, 1);
    }
    return by;
}
"""


def set_cover(costs: ArrayLike, rows: Sequence[Sequence[int]], *, name: str | None = None) -> Model:
    """Return the problem of the cheapest columns that cover all rows.

    `costs` are whole numbers, one for each column, all 1 for a unicost problem; `rows` are the
    columns, numbered from 0, that cover each row. A solution has 1 for the chosen columns. A row
    that is not covered costs one more than its cheapest column, so that good solutions cover all.

    >>> problem = islands.models.set_cover([3, 2, 2], [[0, 1], [0, 2], [0]])
    >>> islands.solve(problem, generations=20).cost
    3
    """
    cost = np.asarray(costs)
    n = len(cost) if cost.ndim == 1 else 0
    if not n or cost.dtype.kind not in "iu" or int(cost.min()) < 0:
        raise UsageError("costs: must be a whole number of at least 0 for each column")
    if not len(rows):
        raise UsageError("rows: is empty. Pass the columns of at least one row")
    own = [np.unique(np.asarray(each, np.int64)) for each in rows]
    for r, each in enumerate(own):
        if not len(each) or each[0] < 0 or each[-1] >= n:
            raise UsageError(f"rows: row {r} needs columns from 0 to {n - 1}, at least one")
    column = np.concatenate(own)
    row = np.repeat(np.arange(len(own)), [len(each) for each in own])
    order = np.lexsort((row, column))
    price = np.array([int(cost[each].min()) + 1 for each in own], np.int64)
    if float(cost.sum(dtype=np.float64)) + float(price.sum(dtype=np.float64)) >= 2.0**60:
        raise UsageError("costs: their sum exceeds 2**60. Use smaller ones")

    def values(chosen: NDArray[Any]) -> NDArray[Any]:
        covered = np.array(
            [np.bincount(row[each[column] == 1], minlength=len(own)) > 0 for each in chosen]
        )
        return np.asarray(chosen @ cost.astype(np.int64) + ~covered @ price)

    def draw(solution: Any, axes: Any) -> None:
        is_chosen = np.asarray(solution)[column] == 1
        axes.plot(column[is_chosen], row[is_chosen], ",", color="C0")
        axes.set(xlabel="column", ylabel="row", xlim=(0, n), ylim=(len(own), 0))

    return subset(
        n,
        cost=_COST,
        state=_STATE,
        data={
            "rows": len(own),
            "cost": cost.astype(np.int64),
            "price": price,
            "row_first": np.searchsorted(row, np.arange(len(own) + 1)).astype(np.int64),
            "column": column.astype(np.int32),
            "first": np.searchsorted(column[order], np.arange(n + 1)).astype(np.int64),
            "row": row[order].astype(np.int32),
        },
        cooperative=True,
        reference=values,
        name=name or f"setcover-{len(own)}x{n}",
        plot=draw,
    )


def lp_bound(costs: ArrayLike, rows: Sequence[Sequence[int]]) -> float:
    """Return the optimum of the linear relaxation, below which no cover costs."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    column = np.concatenate([np.asarray(each) for each in rows])
    row = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
    matrix = csr_array(
        (-np.ones(len(row)), (row, column)), shape=(len(rows), len(np.asarray(costs)))
    )
    found = linprog(costs, matrix, -np.ones(len(rows)), bounds=(0, 1), method="highs")
    return float(found.fun)


def read(path: Path) -> Model:
    """Return the problem in a file of OR-Library: sizes, and one of three layouts.

    By rows: the costs of all columns; for each row, the number of columns that cover it, and these
    columns from 1. By columns: for each, its cost, and the rows that it covers in the same way.
    Unicost: two numbers for each row, which have no meaning here, and then the rows.
    """
    words = Words(path)
    m, n = words.numbers(2, "sizes", 1, 10_000_000)
    rest = words.rest("numbers")
    by_columns = _parts(rest, 0, n, m, ahead=1)
    if by_columns is not None:
        costs = [each[0] for each in by_columns]
        rows: list[list[int]] = [[] for _ in range(m)]
        for j, each in enumerate(by_columns):
            for row in each[1:]:
                rows[row - 1].append(j)
    else:
        by_rows = _parts(rest, n, m, n)
        costs = rest[:n] if by_rows is not None else [1] * n
        by_rows = by_rows if by_rows is not None else _parts(rest, 2 * m, m, n)
        if by_rows is None:
            raise words.error(
                f"its numbers are not those of {m} rows and {n} columns in a layout of OR-Library."
                " Get the file again, or correct the sizes"
            )
        rows = [[each - 1 for each in row] for row in by_rows]
    with refusing(path):
        return set_cover(costs, rows)


def _parts(
    numbers: list[int], at: int, count: int, high: int, ahead: int = 0
) -> list[list[int]] | None:
    """Return parts of a list from a place on, or None if they do not fill it exactly.

    Each part has `ahead` numbers, the number of those that follow, and these, from 1 to `high`.
    """
    parts = []
    for _ in range(count):
        if at + ahead >= len(numbers):
            return None
        own = numbers[at : at + ahead]
        at += ahead + 1
        end = at + numbers[at - 1]
        part = numbers[at:end]
        if end > len(numbers) or not part or min(part) < 1 or max(part) > high:
            return None
        parts.append(own + part)
        at = end
    return parts if at == len(numbers) else None
