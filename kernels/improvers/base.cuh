// What all improvers have in common: their settings, and whose turn it is.
#pragma once

#include "core/core.cuh"

namespace improver {

struct Plan {
    uint32_t rate;  // an individual whose word is below it is improved; the largest number: always
    int32_t every;  // generations from one with improvements to the next; 0 means never
    int32_t steps;  // that are taken at most
    int32_t best;   // whether the best move is taken, and not the first that improves
    int32_t one_position;  // whether only moves of one position, drawn an island, are tried
    int32_t tenure_low, tenure_high;  // how long a move is tabu
    int32_t aspiration;               // a move is free after so many steps; 0 means never
    int32_t core;                     // of a subset: how many items may change; 0 means all
    // Two words, or null: whether the host has said to give the generation up, and whether anybody
    // has left it since.
    volatile int32_t* halt;
};

constexpr uint32_t ALWAYS = 0xffffffffu;

__device__ Plan never() { return {}; }

// Whether to give up, as one thread sees it: others may see it later. What a search that is given
// up leaves is lost, so that it may return whatever it has.
__device__ bool is_told_to_halt(const Plan& plan) { return plan.halt != nullptr && plan.halt[0]; }

// The same for all threads together.
__device__ bool halts(const Plan& plan) {
    if (plan.halt == nullptr) return false;
    const bool told = block::any(threadIdx.x == 0 && plan.halt[0]);
    if (told && threadIdx.x == 0) plan.halt[1] = 1;
    return told;
}

// After how many turns of a search's innermost loop it looks again.
constexpr int LOOKS_EVERY = 4096;

// Whether a search looks after so many steps, each of which tries the pairs of n items. On a GPU
// it does so seldom, as the word comes from afar.
__device__ bool looks_after(int steps, int n) {
    return LOOKS_ARE_CHEAP || n > 1024 || steps % 64 == 63;
}

__device__ bool is_due(const Plan& plan, const draw::Place& place) {
    if (plan.every == 0 || place.generation % plan.every != 0) return false;
    return plan.rate == ALWAYS || place.words(stream::IMPROVE, 0).x < plan.rate;
}

}  // namespace improver
