// Common settings of all improvers, the selection of individuals to improve, and checks for stop
// requests. Reads the request word; writes that a block has stopped. Random streams: IMPROVE.
#pragma once

#include "core/core.cuh"
#include "tours/neighbours.cuh"

namespace improver {

struct Plan {
    uint32_t rate;         // improve individuals whose random word is below this; ALWAYS: all
    int32_t every;         // generations between improvements; 0: never
    int32_t steps;         // maximum steps of a search
    int32_t best;          // whether to take the best move instead of the first improving one
    int32_t one_position;  // whether to try only the moves of one position, drawn per island
    int32_t tenure_low, tenure_high;  // range of the steps for which a move is tabu
    int32_t aspiration;               // steps after which an unused exchange is preferred; 0: never
    int32_t core;                     // number of items of a subset that may change; 0: all
    // Two words, or null: whether the host requests that the generation stop, and whether a block
    // has stopped.
    volatile int32_t* halt;
    Neighbours near;  // of each city, or empty
};

constexpr uint32_t ALWAYS = 0xffffffffu;

__device__ Plan never() { return {}; }  // improve no individual

// Return whether a stop is requested; other threads may see the request later. If it is, the caller
// must stop, as the stop is already recorded. The result of a stopped search is discarded, so any
// value may be returned.
__device__ bool halt_requested(const Plan& plan) {
    if (plan.halt == nullptr || !plan.halt[0]) return false;
    plan.halt[1] = 1;
    return true;
}

// Return whether a stop is requested, in all threads of the block.
__device__ bool halts(const Plan& plan) {
    return plan.halt != nullptr && block::any(threadIdx.x == 0 && halt_requested(plan));
}

// Whether kernels check for a stop request after each evaluation. On a GPU, they do so only if an
// evaluation may be slow, as for user code.
#ifndef PROBLEM_MAY_TAKE_LONG
#define PROBLEM_MAY_TAKE_LONG 0
#endif
constexpr bool LOOKS_OFTEN = POLLING_IS_CHEAP || PROBLEM_MAY_TAKE_LONG;

// Checks for a stop request in a loop with evaluations: on a CPU in each iteration; on a GPU, if it
// LOOKS_OFTEN, in the first iteration after every 10 ms. Once seen, a request remains seen.
class Lookout {
  public:
    __device__ explicit Lookout(const Plan& plan) : plan_(plan), looked_(now()) {}

    // Return whether a stop is requested; other threads may see the request later.
    __device__ bool sees() {
        if (POLLING_IS_CHEAP) return halt_requested(plan_);
        if (!LOOKS_OFTEN || seen_ || now() - looked_ < INTERVAL) return seen_;
        looked_ = now();
        return seen_ = halt_requested(plan_);
    }

    // The same for all threads of the block.
    __device__ bool halts() {
        if (POLLING_IS_CHEAP) return improver::halts(plan_);
        return LOOKS_OFTEN && block::any(threadIdx.x == 0 && sees());
    }

  private:
    static constexpr uint64_t INTERVAL = 15'000'000;  // clock cycles

    __device__ static uint64_t now() {
#ifdef __CUDACC__
        if (LOOKS_OFTEN) return clock64();
#endif
        return 0;
    }

    const Plan& plan_;
    uint64_t looked_;
    bool seen_ = false;
};

// Return whether a search checks for a stop request after a number of steps over the pairs of n
// items. On a GPU, it rarely does, as reading host memory is slow.
__device__ bool polls_after(int steps, int n) {
    return POLLING_IS_CHEAP || n > 1024 || steps % 64 == 63;
}

// Return whether an individual is to be improved in its generation.
__device__ bool is_due(const Plan& plan, const draw::Place& place) {
    if (plan.every == 0 || place.generation % plan.every != 0) return false;
    return plan.rate == ALWAYS || place.words(stream::IMPROVE, 0).x < plan.rate;
}

}  // namespace improver
