// Entry points for tests of local search on tours and of first tours. Read the problem and the
// neighbours; write tours to `order`. No random numbers: the keys are fixed.
#include "core/core.cuh"
#include ISLANDS_ENCODING
#include "problems/tsp.cuh"
#include ISLANDS_IMPROVER
#if ENCODING_DOUBLED
#include "tours/assignment.cuh"
#endif
#include "tours/curve.cuh"
#include "tours/find_neighbours.cuh"
#include "tours/greedy.cuh"
#include "tours/nearest.cuh"

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
        const tours::RandomLengths lengths{data, n, key, uint32_t(spread)};
        tours::Greedy greedy(lengths, plan.near, paths);
        greedy.run(plan, order + row * n);
        __syncthreads();
    }
}

// Makes tours to the nearest city, with edges lengthened by up to spread / 256.
KERNEL(check_nearest, (int32_t rows, int32_t n, int32_t spread, problem::Data data,
                       improver::Plan plan, int32_t* order, int32_t* memory)) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const uint4 key{uint32_t(row), 17, 29, 0x9E3779B9u * uint32_t(row)};
        const tours::RandomLengths lengths{data, n, key, uint32_t(spread)};
        int32_t* const own = memory + int64_t(row) * tours::Nearest::ARRAYS * n;
        tours::Nearest(lengths, plan.near, own, n).run(plan, order + row * n);
        __syncthreads();
    }
}

#if ENCODING_DOUBLED
// Makes directed tours from assignments, with legs lengthened by up to spread / 256.
KERNEL(check_assignment, (int32_t rows, int32_t n, int32_t spread, problem::Data data,
                          improver::Plan plan, int32_t* order, int32_t* memory)) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const uint4 key{uint32_t(row), 17, 29, 41};
        const tours::RandomLengths lengths{data, n, key, uint32_t(spread)};
        int32_t* const own = memory + int64_t(row) * tours::Assignment::ARRAYS * n;
        tours::Assignment(lengths, plan.near, own, n).run(plan, order + row * n);
        __syncthreads();
    }
}
#endif

// Makes tours along a curve; the square of the first one begins at its lowest coordinates.
KERNEL(check_curve, (int32_t rows, int32_t n, int32_t pitch, problem::Data data, double* frame,
                     int32_t* order, uint64_t* words)) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const uint32_t word = 0x9E3779B9u * uint32_t(row);
        const uint4 key{word, ~word * uint32_t(row), 0, 0};
        tours::follow_curve(data, n, frame, key, words + int64_t(row) * pitch, order + row * n);
    }
}
