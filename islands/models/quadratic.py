"""Quadratic binary problems: a cost is a sum of entries of a matrix, and a flip costs one look."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import UsageError
from islands.instances.sizes import MOST_NODES, require_size
from islands.modelling.api import subset
from islands.modelling.model import Model
from islands.models.texts import filled

_COST = """
__device__ {number} cost(const Solution& s, int n, const Data& data) {
    const auto of_row = [&](int i) {
        {number} sum = 0;
        if (!s[i]) return sum;
        for (long long k = data.first[i]; k < data.first[i + 1] && data.other[k] < i; ++k) {
            if (s[data.other[k]]) sum += data.both[k];
        }
        return sum + data.diagonal[i];
    };
    {sum}
}"""
_INTEGER_SUM = """
    {number} sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += of_row(i);
    return block::sum(int64_t(sum));"""
_REAL_SUM = "return block::sum(n, of_row);"
_STATE = """
struct State {
    {number}* field;  // of each item: its entry, and those with all chosen items
    __device__ State(Memory& memory, int n, const Data&) : field(memory.take<{number}>(n)) {}
};

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        {number} sum = data.diagonal[i];
        for (long long k = data.first[i]; k < data.first[i + 1]; ++k) {
            if (s[data.other[k]]) sum += data.both[k];
        }
        state.field[i] = sum;
    }
}

__device__ {number} change(const State& state, const Solution& s, int, const Data&, Flip move) {
    return s[move.item] ? -state.field[move.item] : state.field[move.item];
}

__device__ void apply(State& state, const Solution& s, int, const Data& data, Flip move) {
    const bool leaves = s[move.item];
    const long long end = data.first[move.item + 1];
    for (long long k = data.first[move.item] + threadIdx.x; k < end; k += blockDim.x) {
        state.field[data.other[k]] += leaves ? -data.both[k] : data.both[k];
    }
}
"""


def qubo(
    q: Any, *, maximise: bool = False, name: str | None = None, best_known: float | None = None
) -> Model:
    """Return the problem of the subset x of n items with the least x^T Q x.

    `q` is an n x n matrix of numbers, as an array or a sparse matrix of SciPy; x has 1 for each
    chosen item. An entry and the one opposite to it are added. `maximise` looks for the highest
    value.

    >>> islands.solve(islands.qubo([[-2, 3], [0, -1]]), generations=20).solution.tolist()
    [1, 0]
    """
    from scipy.sparse import coo_array, csr_array

    try:
        pairs = coo_array(q)
        require_size("q", max(pairs.shape), "items", MOST_NODES)  # each has a row in memory
        matrix = csr_array(pairs)
    except UsageError:
        raise
    except (TypeError, ValueError) as error:
        raise UsageError(f"q: must be a matrix of numbers: {error}") from None
    n, columns = matrix.shape
    if n != columns or n < 1:
        raise UsageError(f"q: has the shape {matrix.shape}. Pass a matrix of n rows and n columns")
    if matrix.dtype.kind not in "biuf":
        raise UsageError(f"q: has the type {matrix.dtype}. Pass whole or real numbers")
    if not np.isfinite(matrix.data).all():
        raise UsageError("q: contains NaN or infinity. Pass finite numbers")
    is_real = matrix.dtype.kind == "f" and bool((matrix.data % 1 != 0).any())
    numbers = matrix.astype(np.float64 if is_real else np.int64)
    if not is_real and abs(numbers).sum(dtype=np.float64) >= 2.0**62:
        raise UsageError("q: the sum of its entries exceeds 2**62. Pass real numbers")
    both = csr_array(numbers + numbers.T)
    both.setdiag(0)
    both.eliminate_zeros()
    both.sort_indices()
    number = {"number": "double" if is_real else "long long"}

    def values(chosen: NDArray[Any]) -> NDArray[Any]:
        x = chosen.astype(numbers.dtype)
        return np.asarray((x @ numbers * x).sum(axis=1))

    data = {
        "first": both.indptr.astype(np.int64),
        "other": both.indices.astype(np.int32) if both.nnz else np.zeros(1, np.int32),
        "both": both.data if both.nnz else np.zeros(1, numbers.dtype),
        "diagonal": numbers.diagonal(),
    }
    return subset(
        n,
        cost=filled(_COST, {"sum": _REAL_SUM if is_real else _INTEGER_SUM} | number),
        state=filled(_STATE, number),
        data=data,
        cooperative=True,
        reference=values,
        maximise=maximise,
        best_known=best_known,
        name=name or f"qubo-{n}",
    )
