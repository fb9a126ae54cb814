// A block orders one island after another from best to worst, and keeps the island's own record.
// Reads cost; writes order and island. Draws nothing.
#pragma once

#include "core/archipelago.cuh"

// `step` is 1 at the end of a generation, 0 where only the individuals changed (migration).
// An island without progress for `patience` generations is told to restart; 0 means never.
KERNEL(rank, (Arena arena, Archipelago all, int32_t step, int64_t patience)) {
    const int size = all.population;
    int64_t* const value = reinterpret_cast<int64_t*>(arena.large());
    uint32_t* const index = reinterpret_cast<uint32_t*>(value + block::power_of_two(size));
    for (int me = blockIdx.x; me < all.islands; me += gridDim.x) {
        Island island = all.island[me];
        const int64_t generation = island.generation + step;
        const int64_t* const cost = all.cost + all.row(generation, me, 0);
        for (int i = threadIdx.x; i < size; i += blockDim.x) value[i] = cost[i], index[i] = i;
        __syncthreads();
        block::sort(value, index, size);
        for (int i = threadIdx.x; i < size; i += blockDim.x) all.order[me * size + i] = index[i];

        // Every thread follows the island's record, so that all agree on what comes next.
        island.generation = generation;
        const bool restarted = step && island.restart;
        if (step) island.restart = 0;
        if (restarted || value[0] < island.best) {
            island.best = value[0];
            island.best_generation = generation;
            island.restart = 0;
        } else if (patience > 0 && generation - island.best_generation >= patience) {
            island.restart = 1;
        }
        island.restarts += restarted;
        if (island.restart && island.best < island.archived) {
            island.archived = island.best;
            island.archived_generation = island.best_generation;
            copy_row(all.archive + int64_t(me) * all.shape.pitch,
                     all.genes_of(all.row(generation, me, index[0])), all.shape.pitch);
        }
        if (threadIdx.x == 0) all.island[me] = island;
        __syncthreads();
    }
}
