// Costs by which solutions with violations are compared (COSTS_PRICED): the cost of a feasible
// solution is unchanged; that of an infeasible one is increased by the price of its violation and
// moved above all feasible costs. islands/problems/priced.py is the NumPy version. Reads and
// returns single costs.
// No random numbers.
#pragma once

#include "core/costs.cuh"

#ifndef COSTS_PRICED
#define COSTS_PRICED 0
#endif

namespace priced {

#if COSTS_REAL
// Integers that encode doubles (core/costs.cuh). Feasible costs are within 2^300. Infeasible ones
// are divided by STEP to fit above them.
constexpr double LIMIT = 0x1p300;
constexpr int64_t FIRST = 1324ll << 52, BASE = 1655ll << 52, END = 1987ll << 52;
constexpr int64_t STEP = 4;
#else
constexpr int64_t LIMIT = 1ll << 60;
constexpr int64_t FIRST = 2 * LIMIT, BASE = 3 * LIMIT, END = 0x7fffffffffffffffll;
constexpr int64_t STEP = 1;
#endif

// Return the compared cost; the cost is minimised.
__device__ int64_t compared(int64_t cost, double violation, double price) {
#if COSTS_REAL
    const double value = real::value_of(cost);
    if (value == INFINITY) return cost;
    const double sum = violation > 0.0 ? value + price * violation : value;
    const int64_t units = real::ordered(sum < -LIMIT ? -LIMIT : sum < LIMIT ? sum : LIMIT);
#else
    const double penalty = price * violation, most = double(2 * LIMIT);
    const int64_t added = int64_t(penalty < 1.0 ? 1.0 : penalty < most ? penalty : most);
    const int64_t sum = violation > 0.0 ? cost + added : cost;
    const int64_t units = sum < LIMIT ? sum : LIMIT;
#endif
    // The division by STEP rounds down.
    return violation > 0.0 ? BASE + (STEP == 4 ? units >> 2 : units) : units;
}

// Return whether a compared cost belongs to an infeasible solution.
__device__ bool is_infeasible(int64_t compared) {
    return COSTS_PRICED && compared >= FIRST && compared < END;
}

// Return the cost plus the price of its violation, the energy of a state.
__device__ int64_t soft(int64_t compared) {
    if (!is_infeasible(compared)) return compared;
    return (compared - BASE) * STEP;
}

}  // namespace priced
