// Ranks each island at the end of a generation and updates its record: best, restarts, archive.
// Reads the costs of the new generation; writes `order`, `island` and `archive`. No random numbers.
#pragma once

#include "core/islands.cuh"
#include "core/marks.cuh"

// The rules for updating the record of an island.
struct RankingPlan {
    int64_t patience;  // generations without improvement before a restart; 0: never
    int32_t archives;  // whether the best may be lost, so that a copy is always kept
    int32_t step;      // 1 at the end of a generation, 0 if only individuals changed (migration)
};

namespace record {

// The best individual that an island may archive.
struct Candidate {
    int64_t cost;
    const encoding::Gene* genes;
};

// Return the best individual of a generation; with marked costs, the best feasible one of the
// population and of those offered to the archive.
__device__ Candidate candidate(const Islands& all, int me, int64_t generation,
                               const block::Least<int64_t>& best) {
    const int32_t first = all.row(generation, me, 0);
    if (!COSTS_MARKED) return {best.value, all.genes_of(first + best.index)};
    const int size = all.population;
    const int64_t* const costs = all.offered_cost + int64_t(me) * size;
    block::Least<int64_t> mine;
    for (int i = threadIdx.x; i < 2 * size; i += blockDim.x) {
        const int64_t cost = i < size ? all.cost[first + i] : costs[i - size];
        if (marks::is_feasible(cost) && cost < mine.value) mine = {cost, uint32_t(i)};
    }
    __syncthreads();
    const block::Least<int64_t> kept = block::least(mine);
    if (kept.value == mine.NONE) return {mine.NONE, nullptr};
    const int slot = kept.index;
    if (slot < size) return {kept.value, all.genes_of(first + slot)};
    return {kept.value, all.offered + (int64_t(me) * size + slot - size) * all.shape.pitch};
}

// Update the record of an island, computed by every thread so that all take the same branches.
__device__ void update(const Islands& all, int me, const RankingPlan& plan, Island island,
                       const block::Least<int64_t>& best) {
    island.generation += plan.step;
    const bool restarted = plan.step && island.restart;
    if (plan.step) island.restart = 0;
    if (restarted || best.value < island.best) {
        island.best = best.value;
        island.best_generation = island.generation;
        island.restart = 0;
    } else if (plan.patience > 0 && island.generation - island.best_generation >= plan.patience) {
        island.restart = 1;
    }
    island.ended += restarted;
    if (island.restart || plan.archives) {
        const Candidate kept = candidate(all, me, island.generation, best);
        const bool is_present = COSTS_MARKED || best.value == island.best;
        if (is_present && kept.cost < island.archived) {
            island.archived = kept.cost;
            island.archived_generation = COSTS_MARKED ? island.generation : island.best_generation;
            copy_row(all.archive + int64_t(me) * all.shape.pitch, kept.genes, all.shape.pitch);
        }
    }
    __syncthreads();  // every thread has read the record that is replaced below
    if (threadIdx.x == 0) all.island[me] = island;
}

}  // namespace record

// A block sorts the individuals of one island after another, from best to worst.
KERNEL(rank, (Arena arena, Islands all, RankingPlan plan)) {
    const int size = all.population;
    int64_t* const value = reinterpret_cast<int64_t*>(arena.large());
    uint32_t* const index = reinterpret_cast<uint32_t*>(value + block::power_of_two(size));
    for (int me = blockIdx.x; me < all.islands; me += gridDim.x) {
        const Island island = all.island[me];
        const int64_t* const cost = all.cost + all.row(island.generation + plan.step, me, 0);
        for (int i = threadIdx.x; i < size; i += blockDim.x) value[i] = cost[i], index[i] = i;
        __syncthreads();
        block::sort(value, index, size);
        for (int i = threadIdx.x; i < size; i += blockDim.x) all.order[me * size + i] = index[i];
        record::update(all, me, plan, island, {value[0], index[0]});
        __syncthreads();
    }
}

// A block finds the best of one island and puts it first; the others stay unsorted.
KERNEL(find_best, (Islands all, RankingPlan plan)) {
    const int me = blockIdx.x, size = all.population;
    const Island island = all.island[me];
    const int64_t* const cost = all.cost + all.row(island.generation + plan.step, me, 0);
    constexpr int AT_ONCE = 4;  // concurrent loads, as global memory is slow
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
    record::update(all, me, plan, island, best);
}
