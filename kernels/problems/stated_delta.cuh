// The user's `delta`, for local search. No random numbers.
#pragma once

#include "problems/stated_costs.cuh"

namespace problem {

template <class Move>
__device__ int64_t delta(const int32_t* order, int n, const Data& data, const Move& move) {
    return minimised(user::of_delta::delta(Solution{order}, n, data, move));
}

}  // namespace problem
