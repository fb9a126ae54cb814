// Entry points for tests of local search on tours and of greedy tours.
#include "core/core.cuh"
#include ISLANDS_ENCODING
#include "problems/tsp.cuh"
#include ISLANDS_IMPROVER
#include "tours/find_neighbours.cuh"
#include "tours/greedy.cuh"

KERNEL(room, (int32_t n, problem::Data data, improver::Plan plan, int64_t* bytes)) {
    Scratch scratch(nullptr);
    const improver::Workspace workspace(scratch, plan, nullptr, n, data);
    if (threadIdx.x == 0) bytes[0] = scratch.bytes(), bytes[1] = 0;
}

// Improves tours, one block per row.
KERNEL(check_improve, (Arena arena, int32_t rows, int32_t n, problem::Data data,
                       improver::Plan plan, int32_t* order, int64_t* cost)) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const draw::Place place{7, 3, 5, uint32_t(row)};
        int64_t tried = 0;
        const int64_t better = improver::improve(plan, Scratch(arena.large()), order + row * n, n,
                                                 data, cost[row], place, tried);
        if (threadIdx.x == 0) cost[row] = better;
        __syncthreads();
    }
}

// Makes greedy tours with edges lengthened by up to spread / 256.
KERNEL(check_greedy, (int32_t rows, int32_t n, int32_t spread, problem::Data data,
                      improver::Plan plan, int32_t* order, int32_t* memory)) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const tours::Paths paths(memory + int64_t(row) * tours::Paths::ARRAYS * n, n);
        const uint4 key{uint32_t(row), 17, 29, 41};
        tours::Greedy greedy(data, plan.near, n, paths, key, spread);
        greedy.run(plan, order + row * n);
        __syncthreads();
    }
}
