// Evaluates given subsets, one block per row and one island per row. Rows alternate between the
// first generation and a later one.
#include "core/core.cuh"
#include "problems/mkp.cuh"

KERNEL(room, (int32_t n, problem::Data data, int64_t* bytes)) {
    Shelf shelf(nullptr);
    shelf.take<uint32_t>((n + 31) / 32);
    const problem::Desk desk(shelf, n, data);
    if (threadIdx.x == 0) bytes[0] = shelf.bytes(), bytes[1] = 0;
}

KERNEL(check_judge, (Arena arena, int32_t rows, int32_t n, problem::Data data, int32_t child,
                     int64_t generation, uint32_t* chosen, int64_t* cost)) {
    const int words = (n + 31) / 32;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        Shelf shelf(arena.large());
        uint32_t* const mine = shelf.take<uint32_t>(words);
        for (int w = threadIdx.x; w < words; w += blockDim.x) mine[w] = chosen[row * words + w];
        __syncthreads();
        const draw::Place place{7, uint32_t(row), row % 2 * generation, uint32_t(row)};
        const problem::Verdict verdict = problem::judge(mine, shelf, n, data, place, child);
        for (int w = threadIdx.x; w < words; w += blockDim.x) chosen[row * words + w] = mine[w];
        if (threadIdx.x == 0) cost[row] = verdict.cost;
        __syncthreads();
    }
}
