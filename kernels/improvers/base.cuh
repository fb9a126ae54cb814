// Common settings of all improvers, the choice of individuals to improve, and the checks for stop
// requests. Reads the word of the request; writes that a block has stopped. Random streams:
// IMPROVE.
#pragma once

#include "core/core.cuh"
#include "tours/neighbours.cuh"

namespace improver {

struct Plan {
    uint32_t rate;         // improves individuals with a word below this; the largest: all
    int32_t every;         // generations between improvements; 0 means never
    int32_t steps;         // most steps of a search
    int32_t best;          // whether to take the best move instead of the first that improves
    int32_t one_position;  // whether to try only the moves of one position, drawn per island
    int32_t tenure_low, tenure_high;  // range of the steps for which a move is tabu
    int32_t aspiration;               // steps after which a move is free again; 0 means never
    int32_t core;                     // number of items of a subset that may change; 0 means all
    // Two words, or null: whether the host requests to stop the generation, and whether a block has
    // stopped since.
    volatile int32_t* halt;
    Neighbours near;  // of each city, or empty
};

constexpr uint32_t ALWAYS = 0xffffffffu;

__device__ Plan never() { return {}; }

// Return whether a stop is requested, as one thread sees it; others may see it later. The result of
// a stopped search is discarded, so it may return anything.
__device__ bool halt_requested(const Plan& plan) { return plan.halt != nullptr && plan.halt[0]; }

// The same for all threads of the block.
__device__ bool halts(const Plan& plan) {
    if (plan.halt == nullptr) return false;
    const bool requested = block::any(threadIdx.x == 0 && plan.halt[0]);
    if (requested && threadIdx.x == 0) plan.halt[1] = 1;
    return requested;
}

// Iterations of a search's innermost loop between two checks.
constexpr int POLL_INTERVAL = 4096;

// Return whether a search checks after a number of steps over the pairs of n items. On a GPU checks
// are rare, because reading host memory is slow.
__device__ bool polls_after(int steps, int n) {
    return POLLING_IS_CHEAP || n > 1024 || steps % 64 == 63;
}

__device__ bool is_due(const Plan& plan, const draw::Place& place) {
    if (plan.every == 0 || place.generation % plan.every != 0) return false;
    return plan.rate == ALWAYS || place.words(stream::IMPROVE, 0).x < plan.rate;
}

}  // namespace improver
