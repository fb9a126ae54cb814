// Evaluates given subsets, one block per row and one island per row. Rows alternate between the
// first generation and a later one. Reads and writes `chosen`; writes `cost`.
// Random streams: those of problems/mkp.cuh.
#include "core/core.cuh"
#include "problems/mkp.cuh"

KERNEL(room, (int32_t n, problem::Data data, int64_t* bytes)) {
    Scratch scratch(nullptr);
    scratch.take<uint32_t>((n + 31) / 32);
    const problem::Workspace workspace(scratch, n, data);
    if (threadIdx.x == 0) bytes[0] = scratch.bytes(), bytes[1] = 0;
}

KERNEL(check_evaluate, (Arena arena, int32_t rows, int32_t n, problem::Data data, int32_t child,
                        int64_t generation, uint32_t* chosen, int64_t* cost)) {
    const int words = (n + 31) / 32;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        Scratch scratch(arena.large());
        uint32_t* const mine = scratch.take<uint32_t>(words);
        for (int w = threadIdx.x; w < words; w += blockDim.x) mine[w] = chosen[row * words + w];
        __syncthreads();
        const draw::Place place{7, uint32_t(row), row % 2 * generation, uint32_t(row)};
        const problem::Evaluation evaluation =
            problem::evaluate(mine, scratch, n, data, place, child);
        for (int w = threadIdx.x; w < words; w += blockDim.x) chosen[row * words + w] = mine[w];
        if (threadIdx.x == 0) cost[row] = evaluation.cost;
        __syncthreads();
    }
}
