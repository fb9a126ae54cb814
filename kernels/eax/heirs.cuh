// The tours that a converged population leaves to the next one of its island, whose other tours are
// new: its best one, and the best one that the island ever had. After some populations in a row
// that have not improved on their heirs, the next one begins without any. Reads the costs of a
// generation and the record and stage of the island. No random numbers.
#pragma once

#include "eax/base.cuh"
#include "tours/tour.cuh"

namespace eax {

constexpr int64_t NO_COST = block::Least<int64_t>::NONE;
constexpr int64_t MOST_FAILURES = 2;

struct Heirs {
    int best;      // the slot of the best individual, which it keeps, or -1
    int champion;  // the slot for the best one that the island ever had, or -1
    int64_t cost;  // the lower cost of both
    int64_t failures;

    __device__ bool has(int slot) const { return slot == best || slot == champion; }
};

// Return the heirs of a population, all threads together.
__device__ Heirs heirs_of(const Archipelago& all, const Plan& plan, int local) {
    const Island& island = all.island[local];
    const int64_t* const cost = all.cost + all.row(island.generation, local, 0);
    block::Ranked mine{NO_COST, 0};
    for (int i = threadIdx.x; i < all.population; i += blockDim.x) {
        if (cost[i] < mine.value) mine = {cost[i], uint32_t(i)};
    }
    const block::Ranked best = block::argmin(mine);
    const Stage& stage = plan.stage[local];
    const int64_t failures = best.value < stage.inherited ? 0 : stage.failures + 1;
    if (failures == MOST_FAILURES) return {-1, -1, NO_COST, 0};
    const int slot = best.index;
    if (island.archived >= best.value) return {slot, -1, best.value, failures};
    return {slot, slot + 1 < all.population ? slot + 1 : 0, island.archived, failures};
}

// Write an heir to its slot in the next generation, all threads together.
__device__ void write_heir(const Archipelago& all, const Plan& plan, const problem::Data& data,
                           const Heirs& heirs, int local, int slot) {
    const int64_t pitch = all.shape.pitch, generation = all.island[local].generation;
    const int32_t before = all.row(generation, local, slot);
    const int32_t row = all.row(generation + 1, local, slot);
    const bool is_champion = slot == heirs.champion;
    int32_t* const order = all.genes_of(row);
    copy_row(order, is_champion ? all.archive + local * pitch : all.genes_of(before), pitch);
    if (threadIdx.x == 0) {
        all.cost[row] = is_champion ? all.island[local].archived : all.cost[before];
    }
    __syncthreads();
    Position* const position = plan.position + all.number(local, slot) * pitch;
    tours::Tour<Position>{order, position, all.shape.n, data}.locate();
}

}  // namespace eax
