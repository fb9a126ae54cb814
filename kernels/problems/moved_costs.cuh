// Costs after moves, from functions that read a view of the solution after the move. No random
// numbers.
#pragma once

#include "problems/moved.cuh"

namespace problem {

// Return the compared cost of a solution after a move; called by one thread.
__device__ int64_t stated_cost(const moved::Solution& solution, int n, const Data& data) {
    const int64_t cost = cost_of(moved::user::cost(solution, n, data), data);
#if COSTS_PRICED
    const auto violation = moved::user::of_violation::violation(solution, n, data);
    return priced::compared(cost, violation_of(violation, data), data._price);
#else
    return cost;
#endif
}

// Return the cost of a solution after a move; called by one thread.
template <class Move>
__device__ int64_t cost_moved(const Stored* solution, int n, const Data& data, const Move& move) {
#if SOLUTION_KIND == SOLUTION_ORDER
    const moved::Solution changed(solution, move);
#else
    const moved::Solution changed(solution_at(solution, data), move);
#endif
    return stated_cost(changed, n, data);
}

#if SOLUTION_KIND == SOLUTION_ORDER

// Return the cost of an order; called by one thread.
__device__ int64_t cost_before(const int32_t* order, int n, const Data& data) {
    return stated_cost(Solution{order}, n, data);
}

// Return the cost change due to a move, computed from both costs.
template <class Move>
__device__ int64_t delta(const int32_t* order, int n, const Data& data, const Move& move,
                         int64_t before) {
    const int64_t after = stated_cost(moved::Solution(order, move), n, data);
    if (COSTS_REAL) return real::ordered(real::value_of(after) - real::value_of(before));
    return after - before;
}

template <class Move>
__device__ int64_t delta(const int32_t* order, int n, const Data& data, const Move& move) {
    return delta(order, n, data, move, cost_before(order, n, data));
}

#endif

}  // namespace problem
