// The cost of a solution as the sum of its changes by moves, for user functions that return only
// the cost. Reads and returns costs. No random numbers.
#pragma once

#include "problems/stated_costs.cuh"

namespace problem {

// Whether costs after moves are sums of changes, which have rounding errors for real costs.
constexpr bool ADDS_CHANGES = true;

class Sum {
  public:
    using By = Cost;  // the return type of user functions
    static constexpr bool KEEPS = false;

    __device__ explicit Sum(Scratch&) {}

    __device__ void prepare(const Stored*, int, const Data&) const {}

    // Return the cost after a change; called by one thread.
    template <class Value>
    __device__ int64_t after(const Value& by, int64_t current, const Data&) const {
        return real::changed(current, minimised(by));
    }

    // The same; there is nothing to update.
    template <class Value>
    __device__ int64_t add(const Value& by, int64_t current, const Data& data) const {
        return after(by, current, data);
    }
};

}  // namespace problem
