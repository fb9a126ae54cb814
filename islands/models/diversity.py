"""Maximum diversity: a given number of items that are far from each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.calls import explained
from islands.errors import UsageError
from islands.instances.lines import shown
from islands.modelling.api import subset
from islands.modelling.kinds import whole_number
from islands.modelling.model import Model
from islands.models.files import NumberFile
from islands.models.medians import EXCHANGES
from islands.models.numbers import real
from islands.models.plain import Quadratic
from islands.problems.data import name_or, require_shape

_COST = """
// Each item too many or too few costs more than the distances of any item.
__device__ double cost(const Solution& s, int n, const Data& data) {
    const auto row = [&](int i) {
        double sum = 0;
        for (int j = 0; s[i] && j < i; ++j) sum += s[j] ? data.distance[(long long)i * n + j] : 0;
        return sum;
    };
    const double sum = block::sum(n, row);
    const double chosen = block::sum(n, [&](int i) { return double(s[i]); });
    return sum - data.price * abs(chosen - data.size);
}
"""
_STATE = (
    EXCHANGES
    + """
struct State {
    double* sum;  // of each item: its distances from the chosen ones
    Choice choice;
    __device__ State(Memory& memory, int n, const Data&)
        : sum(memory.take<double>(n)), choice(memory, n) {}
};

__device__ void prepare(State& state, const Solution& s, int n, const Data& data) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        double sum = 0;
        for (int j = 0; j < n; ++j) sum += s[j] ? data.distance[(long long)i * n + j] : 0;
        state.sum[i] = sum;
    }
    if (threadIdx.x == 0) state.choice.fill(s, n);
}

__device__ bool propose(const State& state, const Solution&, int n, const Data& data,
                        Random& random, Step& step) {
    return state.choice.draw(n, data, random, step);
}

__device__ double change(const State& state, const Solution&, int n, const Data& data,
                         Step step) {
    double by = state.choice.price(data, step);
    if (step.out != NONE) by -= state.sum[step.out];
    if (step.in != NONE) by += state.sum[step.in];
    if (step.out != NONE && step.in != NONE) {
        by -= data.distance[(long long)step.out * n + step.in];
    }
    return by;
}

__device__ double apply(State& state, Changing& s, int n, const Data& data, Step step) {
    const double by = change(state, s.solution, n, data, step);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        double sum = state.sum[i];
        if (step.out != NONE) sum -= data.distance[(long long)step.out * n + i];
        if (step.in != NONE) sum += data.distance[(long long)step.in * n + i];
        state.sum[i] = sum;
    }
    if (threadIdx.x == 0) state.choice.make(s, step);
    return by;
}
"""
)


@explained
def max_diversity(distances: ArrayLike, size: int, *, name: str | None = None) -> Model:
    """Return the problem of `size` items with the largest sum of the distances of all pairs.

    `distances` are those of n items, a symmetric matrix. A solution has 1 for the chosen items.

    >>> problem = islands.models.max_diversity([[0, 1, 5], [1, 0, 2], [5, 2, 0]], 2)
    >>> islands.solve(problem, generations=20).cost
    5.0
    """
    distance = real("distances", distances, 2)
    n = len(distance)
    require_shape("distances", distance, (n, n), "a row and a column for each item")
    if not np.array_equal(distance, distance.T):
        raise UsageError("distances: differ in both directions. Pass their means")
    size = whole_number("size", size, n)
    np.fill_diagonal(distance, 0)
    price = float(2 * np.abs(distance).sum(axis=1).max()) + 1

    def sums(chosen: NDArray[Any]) -> NDArray[Any]:
        x = chosen.astype(np.float64)
        pairs = (x @ distance * x).sum(axis=1) / 2
        return np.asarray(pairs - price * np.abs(x.sum(axis=1) - size))

    model = subset(
        n,
        cost=_COST,
        state=_STATE,
        data={"distance": distance, "size": size, "price": price},
        cooperative=True,
        reference=sums,
        maximise=True,
        name=name_or(name, f"diversity-{n}-{size}"),
    )

    def plain() -> Quadratic:
        one, two = np.tril_indices(n, -1)
        pairs = one, two, -distance[one, two]
        return Quadratic(np.zeros(n), pairs, -1, size, price)

    model.plain = plain
    return model


def read(path: Path) -> Model:
    """Return the problem in a file: items and size; for each pair, two items from 0, distance."""
    with NumberFile.open(path) as file:
        n, size = file.numbers(2, "sizes", 1)
        # Each pair has a line.
        file.expect(f"a choice from {n} items", 3 * n * (n - 1) // 2)
        distance = np.full((n, n), np.nan)
        np.fill_diagonal(distance, 0)
        while (line := file.line()) is not None:
            if len(line) != 3:
                text = shown(b" ".join(line))
                raise file.error(f"{text} is not of the form 'i j distance'. Correct it")
            i, j = (file.whole(word, "items", 0, n - 1) for word in line[:2])
            distance[i, j] = distance[j, i] = file.real(line[2], "distances")
        if (missing := np.argwhere(np.isnan(distance))).size:
            i, j = missing[0].tolist()
            raise file.error(f"the distance of items {i} and {j} is missing. Get the file again")
        return max_diversity(distance, size)
