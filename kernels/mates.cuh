// Selects one of the visible neighbours as the mate of an individual by the rule
// CELLULAR_SELECTION. Reads the neighbours' costs and fitness; returns the number of the mate. No
// random numbers here: the caller passes random words.
#pragma once

#include "core/costs.cuh"
#include "neighbourhood.cuh"

#define CELLULAR_RANDOM 0
#define CELLULAR_PROPORTIONAL 1
#define CELLULAR_RELATIVE 2
#define CELLULAR_BEST 3

namespace neighbourhood {

// Return a neighbour with probability proportional to its fitness: 1 / (1 + cost), or 1 - cost for
// negative costs.
__device__ int by_fitness(const Neighbour* seen, uint4 word) {
    double total = 0.0;
    for (int k = 0; k < SIZE; ++k) total += seen[k].fitness;
    const uint64_t drawn = (uint64_t(word.x) << 32 | word.y) >> 11;
    const double ball = double(drawn) * (1.0 / 9007199254740992.0) * total;
    double through = 0.0;
    int passed = 0;
    for (int k = 0; k < SIZE - 1; ++k) {
        through += seen[k].fitness;
        passed += through <= ball;
    }
    return passed;
}

// Return the neighbour to mate with.
__device__ int selected(const Neighbour* seen, uint4 word) {
    if (CELLULAR_SELECTION == CELLULAR_RANDOM) return draw::below(word.x, SIZE);
    if (CELLULAR_SELECTION == CELLULAR_PROPORTIONAL) return by_fitness(seen, word);
    int first = 0;
    int64_t best = seen[0].cost, worst = best;
    for (int k = 1; k < SIZE; ++k) {
        const int64_t cost = seen[k].cost;
        if (cost < best) best = cost, first = k;
        if (cost > worst) worst = cost;
    }
    if (CELLULAR_SELECTION == CELLULAR_BEST) return first;
    // The weight of a neighbour is its advantage over the worst plus one, rounded so that the sum
    // fits into 64 bits.
    int shift = 0;
    while ((uint64_t(worst) - uint64_t(best)) >> shift >= 1ull << 48) ++shift;
    const auto weight = [&](int k) {
        if (COSTS_REAL) return real::advantage(seen[k].cost, best, worst, 48) + 1;
        return ((uint64_t(worst) - uint64_t(seen[k].cost)) >> shift) + 1;
    };
    uint64_t total = 0;
    for (int k = 0; k < SIZE; ++k) total += weight(k);
    const uint64_t ball = draw::below(uint64_t(word.x) << 32 | word.y, total);
    uint64_t through = 0;
    int passed = 0;
    for (int k = 0; k < SIZE; ++k) {
        through += weight(k);
        passed += through <= ball;
    }
    return passed;
}

}  // namespace neighbourhood
