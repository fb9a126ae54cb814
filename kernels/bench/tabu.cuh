// Benchmark of tabu search alone: a block improves one order after another. Reads `start`; writes
// the improved `orders` and their `costs`. Random streams: those of improvers/tabu.cuh (TENURE).
#include "core/core.cuh"
#include ISLANDS_PROBLEM
#include "improvers/tabu.cuh"

KERNEL(room, (problem::Data data, improver::Plan plan, int32_t n, int64_t* bytes)) {
    Scratch scratch(nullptr);
    const int32_t* const order = scratch.take<int32_t>(n);
    const improver::Workspace workspace(scratch, plan, order, n, data);
    if (threadIdx.x == 0) bytes[0] = scratch.bytes(), bytes[1] = 0;
}

#ifndef ISLANDS_ROOM

KERNEL(tabu, (Arena arena, problem::Data data, improver::Plan plan, uint64_t seed, int32_t count,
              int32_t n, const int32_t* start, int32_t* orders, int64_t* costs)) {
    Scratch scratch(arena.large());
    int32_t* const order = scratch.take<int32_t>(n);
    for (int individual = blockIdx.x; individual < count; individual += gridDim.x) {
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += blockDim.x) order[i] = start[individual * n + i];
        __syncthreads();
        const draw::Place place{seed, 0, 0, uint32_t(individual)};
        int64_t calls = 0;
        const int64_t cost = improver::improve(plan, scratch, order, n, data,
                                               problem::cost(order, n, data), place, calls);
        for (int i = threadIdx.x; i < n; i += blockDim.x) orders[individual * n + i] = order[i];
        if (threadIdx.x == 0) costs[individual] = cost;
    }
}

#endif
