// The mating order of an island and the ends of its phases, which depend only on the island's own
// costs. When new tours have converged while an heir sleeps, it wakes, and the phases start again
// with it. Reads the costs of two generations; writes the mating order and the stage of an island.
// Random streams: MATING.
#pragma once

#include "eax/heirs.cuh"

namespace eax {

// A phase ends after IDLE consecutive generations in which less than 1 / FEW of the individuals
// improved.
constexpr int FEW_IN_SINGLE = 3, IDLE_IN_SINGLE = 3;
constexpr int FEW_IN_BLOCK = 50, IDLE_IN_BLOCK = 5;
// Minimum length of the first phase of a population: the edges of an heir need this long to reach
// all individuals.
constexpr int SHORTEST_SINGLE = 20;
// A phase also ends if the best cost is constant for this number of generations plus a tenth of the
// phase.
constexpr int STAGNATION = 30;

// Return the individual at a place of the random mating order of an island. A Feistel network
// permutes numbers with an even number of bits, and is repeated until the result is an individual.
__device__ int mate_at(const Islands& all, int local, int64_t made, int place) {
    const uint4 key = all.place(local, made, 0).words(stream::MATING, 0);
    const uint32_t keys[4] = {key.x, key.y, key.z, key.w};
    int half = 1;
    while (1 << (2 * half) < all.population) ++half;
    const uint32_t mask = (1u << half) - 1;
    uint32_t found = place;
    do {
        uint32_t high = found >> half, low = found & mask;
        for (int round = 0; round < 8; ++round) {
            uint32_t word = (low + round * 0x632BE59Bu ^ keys[round % 4]) * 0x9E3779B1u;
            word = (word ^ word >> 15) * 0x85EBCA77u;
            const uint32_t mixed = high ^ ((word ^ word >> 13) & mask);
            high = low, low = mixed;
        }
        found = high << half | low;
    } while (found >= uint32_t(all.population));
    return found;
}

// Write the parents of a pair: neighbours in the mating order.
__device__ void mate(const Islands& all, const Plan& plan, int64_t index) {
    const auto [local, number] = all.individual(index);
    const int64_t made = all.island[local].generation + 1;
    const int next = number + 1 < all.population ? number + 1 : 0;
    if (threadIdx.x < 2) {
        plan.mates[2 * index + threadIdx.x] =
            mate_at(all, local, made, threadIdx.x ? next : number);
    }
#ifndef __CUDACC__
    plan.mates[2 * index + 1] = mate_at(all, local, made, next);
#endif
    __syncthreads();
}

// Return the first stage of a population with an heir, given the last stage of its island.
__device__ Stage with_heir(const Stage& last, int64_t made, int64_t inherited) {
    const int64_t failures = inherited < last.inherited ? 0 : last.failures + 1;
    const bool sleeps = failures == MOST_FAILURES;
    return {SINGLE, made, 0, NO_COST, made, sleeps, inherited, sleeps ? 0 : failures};
}

// Update the stage of an island after a generation, using all threads.
__device__ void update(const Islands& all, const Plan& plan, int local) {
    const int64_t made = all.island[local].generation + 1;
    const int64_t* const before = all.cost + all.row(made - 1, local, 0);
    const int64_t* const after = all.cost + all.row(made, local, 0);
    Stage stage = plan.stage[local];
    const bool is_new = stage.phase == DONE && plan.restarts;
    if (is_new) stage = with_heir(stage, made, after[HEIR]);
    int better = 0;
    block::Ranked best{NO_COST, 0};
    for (int i = threadIdx.x; i < all.population; i += blockDim.x) {
        if (stage.sleeps && i == HEIR) continue;
        better += after[i] < before[i];
        if (after[i] < best.value) best.value = after[i];
    }
    better = block::sum(better), best = block::argmin(best);
    __syncthreads();  // every thread has read the stage
    if (best.value < stage.best) stage.best = best.value, stage.best_generation = made;
    const bool is_single = stage.phase == SINGLE;
    const int few = is_single ? FEW_IN_SINGLE : FEW_IN_BLOCK;
    stage.idle = better * few < all.population ? stage.idle + 1 : 0;
    const int64_t lasted = made - stage.since;
    const bool is_idle = is_single ? stage.idle >= IDLE_IN_SINGLE && lasted >= SHORTEST_SINGLE
                                   : stage.idle >= IDLE_IN_BLOCK;
    const bool stagnates = made - stage.best_generation >= STAGNATION + lasted / 10;
    if (!is_new && stage.phase < DONE && (is_idle || stagnates)) {
        const bool wakes = stage.phase == BLOCK && stage.sleeps;
        const int64_t next = wakes ? int64_t(SINGLE) : stage.phase + 1;
        stage.phase = next, stage.since = stage.best_generation = made, stage.idle = 0;
        if (wakes) stage.sleeps = 0, stage.best = NO_COST;
        if (threadIdx.x == 0 && next == DONE) ++all.island[local].ended;
    }
    if (threadIdx.x == 0) plan.stage[local] = stage;
}

}  // namespace eax
