// Tempering of a knapsack, in its core: see core_state.cuh and islands/problems/core.py. No random
// numbers here.
#pragma once

#include "tempering/plan.cuh"

namespace tempering {

constexpr int PAIRS = TEMPERING_PAIRS;  // of constraints

}  // namespace tempering

namespace algorithm {

struct CorePlan {
    const uint32_t* packed;   // [n][PAIRS]: the weights of an item, two constraints a word
    const int32_t* gains;     // [n]: scaled profits
    const int32_t* rows;      // [2 * PAIRS]: the constraint of each half of a word, or -1
    const int32_t* shifts;    // [2 * PAIRS]: bits that its weights lack
    const int32_t* core;      // [largest]: items by the size of their reduced cost
    const uint32_t* rounded;  // [pitch]: the items with positive reduced profit
    const float* levels;      // random logarithms: see core_chain.cuh
    // Of each variant, of which a ladder takes the next when it is renewed
    const int32_t* sizes;               // items of the core
    const uint32_t* prices;             // [(PAIRS + 1) / 2]: of overloads, as negative bytes
    const int32_t* slops;               // price of overloads up to which a subset may be feasible
    int32_t variants, largest, places;  // the largest core, and the most free items
    const double* scale;                // [1]: of energies to profits
    int64_t* variant;                   // of each ladder
};

using Plan = PlanOf<Climbs, CorePlan>;

}  // namespace algorithm

#include "tempering/by_climbs.cuh"
#include "tempering/core_chain.cuh"
#include "tempering/fixed_price.cuh"
#include "tempering/mixed_cross.cuh"
