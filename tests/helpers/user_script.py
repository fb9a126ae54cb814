"""A user's script: a problem, and parts of the algorithm that solves it."""

import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import islands
from islands.algorithms.ga import Ga
from islands.errors import RunError
from islands.paths import data_folder

COSTS = """
#pragma once
#include "core/core.cuh"

namespace problem {

struct Data {
    const int32_t* costs;  // [worker][shift]
};

template <class Order>
__device__ int64_t cost(const Order& workers, int n, const Data& data) {
    int64_t sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += data.costs[workers[i] * n + i];
    return block::sum(sum);
}

}  // namespace problem
"""
ALTERNATE = """
#pragma once
#include "crossovers/base.cuh"

namespace crossover {

__device__ void cross(Scratch, const Pair<Gene>& mates, const Pair<Gene>& children,
                      const encoding::Shape& shape, uint4 word, const draw::Place&) {
    for_both(shape.n, [&](int side, int i) {
        children[side][i] = mates[(i + word.x) % 2 ? side : 1 - side][i];
    });
}

}  // namespace crossover
"""
NEIGHBOURS = """
#pragma once
#include "mutations/base.cuh"

namespace mutation {

__device__ void mutate(Scratch, Gene* row, const encoding::Shape& shape, uint32_t one, uint32_t) {
    __syncthreads();
    if (threadIdx.x > 0) return;
    const int n = genes::items(shape), u = draw::below(one, n), v = (u + 1) % n;
    const Gene at_u = genes::get(row, u);
    genes::set(row, u, genes::get(row, v));
    genes::set(row, v, at_u);
}

}  // namespace mutation
"""


class Shifts(islands.Problem):
    """Assign one shift to each worker; each pair of worker and shift has a cost."""

    name: ClassVar[str] = "shifts"
    header: ClassVar[islands.Header] = islands.Header("shifts.cuh", COSTS)
    solution_kind: ClassVar[str] = "order"
    solution_suffix: ClassVar[str] = ".shifts"

    def __init__(self, workers: int = 12) -> None:
        self.instance, self.size = f"shifts{workers}", workers
        self.table = np.random.default_rng(workers).integers(1, 1000, (workers, workers), np.int32)

    def defines(self) -> dict[str, Any]:
        return {}

    def arrays(self) -> list[NDArray[np.generic]]:
        return [self.table]

    def costs(self, solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.sum(self.table[solutions, np.arange(self.size)], axis=1, dtype=np.int64)

    def check(self, solution: NDArray[np.int64]) -> None:
        if sorted(solution) != list(range(self.size)):
            raise RunError("each worker needs one shift")

    def read_solution(self, path: Path) -> NDArray[np.int64]:
        return np.loadtxt(path, np.int64)

    def write_solution(self, path: Path, solution: NDArray[np.int64], cost: int) -> None:
        np.savetxt(path, solution, "%d")


class Alternate(islands.Crossover):
    name = "alternate"
    encodings = ("keys",)
    header = islands.Header("alternate.cuh", ALTERNATE)


class Neighbours(islands.Mutation):
    name = "neighbours"
    encodings = ("keys",)
    header = islands.Header("neighbours.cuh", NEIGHBOURS)


class Breed(Ga):
    """The genetic algorithm under another name; migrants do not replace the three best."""

    name: ClassVar[str] = "breed"
    header: ClassVar[islands.Header] = islands.Header(
        "breed.cuh", (data_folder("kernels") / "algorithms/ga.cuh").read_text(encoding="utf-8")
    )

    def kept(self) -> int:
        return 3


def hops(island: int, islands: int, number: int, seed: int) -> list[int]:
    """Return another island, further away at each migration, and sometimes none."""
    other = (island + number * seed) % islands
    return [other] if other != island else []


shifts = Shifts()
hopping = islands.Topology("hopping", hops, most=1)

if __name__ == "__main__":
    result = islands.solve(
        shifts,
        algorithm=Breed,
        encoding="keys",
        crossover=Alternate(),
        mutation=Neighbours,
        migration=hopping,
        islands=5,
        population=24,
        interval=4,
        migrants=1,
        improver="none",
        backend="cpu",
        threads=1,
        stop="generations=1000000000",
        checkpoint={"every": 0.1},
        out=sys.argv[1],
    )
    sys.exit(75 if result.suspended else 0)
