// The evaluation of a user-defined problem without corrections, as all solutions are valid. No
// random numbers.
#pragma once

#include "problems/solution.cuh"

namespace problem {

template <class Decoded>
__device__ int64_t cost(const Decoded& decoded, int n, const Data& data) {
    return cost_in_block(solution_of(decoded, data, 0), n, data);
}

// Return the cost of a solution that is always valid.
__device__ int64_t cost_repaired(Stored* solution, int n, const Data& data) {
    return cost_after(solution, n, data);
}

}  // namespace problem
