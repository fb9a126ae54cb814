// Improves given subsets, one block per row. Reads and writes `chosen` and `cost`; writes `calls`.
// Random streams: those of the improver.
#include "core/core.cuh"
#include "problems/mkp.cuh"
#include ISLANDS_IMPROVER

KERNEL(room, (int32_t n, problem::Data data, improver::Plan plan, int64_t* bytes)) {
    Scratch scratch(nullptr);
    const uint32_t* const mine = scratch.take<uint32_t>((n + 31) / 32);
    const improver::Workspace workspace(scratch, plan, mine, n, data);
    if (threadIdx.x == 0) bytes[0] = scratch.bytes(), bytes[1] = 0;
}

KERNEL(check_improve, (Arena arena, int32_t rows, int32_t n, problem::Data data,
                       improver::Plan plan, uint32_t* chosen, int64_t* cost, int64_t* calls)) {
    const int words = (n + 31) / 32;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        Scratch scratch(arena.large());
        uint32_t* const mine = scratch.take<uint32_t>(words);
        for (int w = threadIdx.x; w < words; w += blockDim.x) mine[w] = chosen[row * words + w];
        __syncthreads();
        const draw::Place place{7, 3, 5, uint32_t(row)};
        int64_t tried = 0;
        const int64_t better =
            improver::improve(plan, scratch, mine, n, data, cost[row], place, tried);
        __syncthreads();
        for (int w = threadIdx.x; w < words; w += blockDim.x) chosen[row * words + w] = mine[w];
        if (threadIdx.x == 0) cost[row] = better, calls[row] = tried;
        __syncthreads();
    }
}
