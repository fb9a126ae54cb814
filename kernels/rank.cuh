// At the end of a generation, each island's own record is brought up to date. Draws nothing.
#pragma once

#include "core/archipelago.cuh"

// How an island is led through generations.
struct Course {
    int64_t patience;  // generations without progress after which it restarts; 0 means never
    int32_t archives;  // whether its best may get lost, so that a copy is kept from the beginning
    int32_t step;      // 1 at the end of a generation, 0 where only individuals changed (migration)
};

namespace record {

// Every thread of the block follows the island's record, so that all agree on what comes next.
__device__ void follow(const Archipelago& all, int me, const Course& course, block::Ranked best) {
    Island island = all.island[me];
    island.generation += course.step;
    const bool restarted = course.step && island.restart;
    if (course.step) island.restart = 0;
    if (restarted || best.value < island.best) {
        island.best = best.value;
        island.best_generation = island.generation;
        island.restart = 0;
    } else if (course.patience > 0 &&
               island.generation - island.best_generation >= course.patience) {
        island.restart = 1;
    }
    island.restarts += restarted;
    const bool here = best.value == island.best;
    if ((island.restart || course.archives) && here && island.best < island.archived) {
        island.archived = island.best;
        island.archived_generation = island.best_generation;
        copy_row(all.archive + int64_t(me) * all.shape.pitch,
                 all.genes_of(all.row(island.generation, me, best.index)), all.shape.pitch);
    }
    __syncthreads();  // every thread has read the record that is replaced now
    if (threadIdx.x == 0) all.island[me] = island;
}

}  // namespace record

// A block orders one island after another from best to worst.
KERNEL(rank, (Arena arena, Archipelago all, Course course)) {
    const int size = all.population;
    int64_t* const value = reinterpret_cast<int64_t*>(arena.large());
    uint32_t* const index = reinterpret_cast<uint32_t*>(value + block::power_of_two(size));
    for (int me = blockIdx.x; me < all.islands; me += gridDim.x) {
        const int64_t generation = all.island[me].generation + course.step;
        const int64_t* const cost = all.cost + all.row(generation, me, 0);
        for (int i = threadIdx.x; i < size; i += blockDim.x) value[i] = cost[i], index[i] = i;
        __syncthreads();
        block::sort(value, index, size);
        for (int i = threadIdx.x; i < size; i += blockDim.x) all.order[me * size + i] = index[i];
        record::follow(all, me, course, {value[0], index[0]});
        __syncthreads();
    }
}

// A block finds the best of one island and puts it first; the others are left as they stand.
KERNEL(crown, (Archipelago all, Course course)) {
    const int me = blockIdx.x, size = all.population;
    const int64_t generation = all.island[me].generation + course.step;
    const int64_t* const cost = all.cost + all.row(generation, me, 0);
    block::Ranked mine{0x7fffffffffffffffll, 0xffffffffu};
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        const block::Ranked other{cost[i], uint32_t(i)};
        if (other.before(mine)) mine = other;
    }
    const block::Ranked best = block::argmin(mine);
    if (threadIdx.x == 0) all.order[me * size] = best.index;
    record::follow(all, me, course, best);
}
