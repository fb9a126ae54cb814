// The cost of a solution as the sum of its changes by moves, of which a user's functions return the
// cost alone. Reads and returns costs. No random numbers.
#pragma once

#include "problems/stated_costs.cuh"

namespace problem {

// Whether costs after moves are sums of changes, which for real costs have errors of rounding.
constexpr bool ADDS_CHANGES = true;

class Sum {
  public:
    using By = Cost;  // what the user's functions return
    static constexpr bool KEEPS = false;

    __device__ explicit Sum(Scratch&) {}

    __device__ void prepare(const Stored*, int, const Data&) const {}

    // Return the cost after a change; called by one thread.
    template <class Value>
    __device__ int64_t after(const Value& by, int64_t current, const Data&) const {
        return real::changed(current, minimised(by));
    }

    // The same, and the change is made.
    template <class Value>
    __device__ int64_t add(const Value& by, int64_t current, const Data& data) const {
        return after(by, current, data);
    }
};

}  // namespace problem
