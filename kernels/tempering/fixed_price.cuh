// A constant price of violations, if there are any. No random numbers.
#pragma once

#include "tempering/base.cuh"

namespace tempering {

class Price {
  public:
    static constexpr bool ADAPTS = false;

    // See adapting_price.cuh.
    __device__ static void begin(const Plan&, int64_t) {}
    __device__ static void adapt(const Plan&, int64_t, int64_t) {}
};

// The data of the instance that a replica searches.
template <class Data>
class PricedData {
  public:
    __device__ explicit PricedData(const Data& data) : data(data) {}

    __device__ void take_first() {}
    __device__ void take(const Plan&, int64_t) {}

    // Return the costs with which a state continues.
    __device__ Costs resumed(const Costs& before, const Gene*, Gene*, const encoding::Shape&, bool,
                             int64_t&) const {
        return before;
    }

    const Data& data;
};

}  // namespace tempering
