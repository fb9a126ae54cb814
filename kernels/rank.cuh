// At the end of a generation, each island's own record is brought up to date. Draws nothing.
#pragma once

#include "core/archipelago.cuh"
#include "core/marks.cuh"

// How an island is led through generations.
struct Course {
    int64_t patience;  // generations without progress after which it restarts; 0 means never
    int32_t archives;  // whether its best may get lost, so that a copy is kept from the beginning
    int32_t step;      // 1 at the end of a generation, 0 where only individuals changed (migration)
};

namespace record {

// Where the best individual lies that an island may have to keep, and its cost.
struct Keepsake {
    int64_t cost;
    const encoding::Gene* genes;
};

// Of the individuals of a generation, that is the best one; where costs are marked, it is the best
// feasible one of these and of all that were met.
__device__ Keepsake keepsake(const Archipelago& all, int me, int64_t generation,
                             const block::Least<int64_t>& best) {
    const int32_t first = all.row(generation, me, 0);
    if (!COSTS_MARKED) return {best.value, all.genes_of(first + best.index)};
    const int size = all.population;
    const int64_t* const met = all.met_cost + int64_t(me) * size;
    block::Least<int64_t> mine;
    for (int i = threadIdx.x; i < 2 * size; i += blockDim.x) {
        const int64_t cost = i < size ? all.cost[first + i] : met[i - size];
        if (marks::is_feasible(cost) && cost < mine.value) mine = {cost, uint32_t(i)};
    }
    __syncthreads();
    const block::Least<int64_t> kept = block::least(mine);
    if (kept.value == mine.NONE) return {mine.NONE, nullptr};
    const int slot = kept.index;
    if (slot < size) return {kept.value, all.genes_of(first + slot)};
    return {kept.value, all.met + (int64_t(me) * size + slot - size) * all.shape.pitch};
}

// Every thread of the block follows the island's record, so that all agree on what comes next.
__device__ void follow(const Archipelago& all, int me, const Course& course, Island island,
                       const block::Least<int64_t>& best) {
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
    if (island.restart || course.archives) {
        const Keepsake kept = keepsake(all, me, island.generation, best);
        const bool is_present = COSTS_MARKED || best.value == island.best;
        if (is_present && kept.cost < island.archived) {
            island.archived = kept.cost;
            island.archived_generation = COSTS_MARKED ? island.generation : island.best_generation;
            copy_row(all.archive + int64_t(me) * all.shape.pitch, kept.genes, all.shape.pitch);
        }
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
        const Island island = all.island[me];
        const int64_t* const cost = all.cost + all.row(island.generation + course.step, me, 0);
        for (int i = threadIdx.x; i < size; i += blockDim.x) value[i] = cost[i], index[i] = i;
        __syncthreads();
        block::sort(value, index, size);
        for (int i = threadIdx.x; i < size; i += blockDim.x) all.order[me * size + i] = index[i];
        record::follow(all, me, course, island, {value[0], index[0]});
        __syncthreads();
    }
}

// A block finds the best of one island and puts it first; the others are left as they stand.
KERNEL(find_best, (Archipelago all, Course course)) {
    const int me = blockIdx.x, size = all.population;
    const Island island = all.island[me];
    const int64_t* const cost = all.cost + all.row(island.generation + course.step, me, 0);
    constexpr int AT_ONCE = 4;  // as they come from afar
    block::Least<int64_t> mine;
    for (int i = threadIdx.x; i < size; i += AT_ONCE * blockDim.x) {
        int64_t found[AT_ONCE];
        for (int k = 0; k < AT_ONCE; ++k) {
            const int at = i + k * blockDim.x;
            found[k] = at < size ? cost[at] : mine.NONE;
        }
        for (int k = 0; k < AT_ONCE; ++k) {
            if (found[k] < mine.value) mine = {found[k], i + k * blockDim.x};
        }
    }
    const block::Least<int64_t> best = block::least(mine);
    if (threadIdx.x == 0) all.order[me * size] = best.index;
    record::follow(all, me, course, island, best);
}
