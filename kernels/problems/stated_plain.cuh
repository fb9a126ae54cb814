// The cost by which solutions without violations are compared: the user's cost. No random numbers.
#pragma once

#include "problems/solution.cuh"

namespace problem {

// Return the compared cost of a solution; called by one thread or by all, like the user functions.
__device__ int64_t stated_cost(const Solution& solution, int n, const Data& data) {
    return cost_of(user::cost(solution, n, data), data);
}

// Return the cost of a solution without its violation; called by all threads of a block.
__device__ int64_t plain_cost_in_block(const Solution& solution, int n, const Data& data) {
    return in_block([&] { return stated_cost(solution, n, data); });
}

}  // namespace problem
