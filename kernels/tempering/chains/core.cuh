// Tempering of knapsack problems, restricted to their core: see core_state.cuh and
// islands/problems/core.py. No random numbers here.
#pragma once

#include "tempering/plan.cuh"

namespace tempering {

constexpr int PAIRS = TEMPERING_PAIRS;  // number of pairs of constraints

}  // namespace tempering

namespace algorithm {

struct CorePlan {
    const uint32_t* packed;   // [n][PAIRS]: the weights of an item, two constraints per word
    const int32_t* gains;     // [n]: scaled profits
    const int32_t* rows;      // [2 * PAIRS]: the constraint of each half of a word, or -1
    const int32_t* shifts;    // [2 * PAIRS]: number of dropped low bits of its weights
    const int32_t* core;      // [largest]: items by absolute reduced profit
    const uint32_t* rounded;  // [pitch]: the items with positive reduced profit
    const float* levels;      // random logarithms: see core_chain.cuh
    // Per variant; a ladder switches to the next variant when it is renewed.
    const int32_t* sizes;               // items of the core
    const uint32_t* prices;             // [(PAIRS + 1) / 2]: of overloads, as negative bytes
    const int32_t* slops;               // maximum price of overloads of possibly feasible subsets
    int32_t variants, largest, places;  // number of variants; largest core; maximum free items
    const double* scale;                // [1]: units of energy per unit of profit
    int64_t* variant;                   // per ladder
};

using Plan = PlanOf<Climbs, CorePlan>;

}  // namespace algorithm

#include "tempering/by_climbs.cuh"
#include "tempering/core_chain.cuh"
#include "tempering/fixed_price.cuh"
#include "tempering/mixed_cross.cuh"
