// Local search by exchanging two entries.
#pragma once

#include "improvers/local.cuh"

namespace improver {

constexpr bool ACTIVE = true;

__device__ int64_t improve(const Plan& plan, Shelf, int32_t* order, int n,
                           const problem::Data& data, int64_t cost, const draw::Place& place,
                           int64_t& calls) {
    return local_search<moves::Swap>(plan, order, n, data, cost, place, calls);
}

}  // namespace improver
