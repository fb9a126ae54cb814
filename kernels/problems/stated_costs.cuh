// Conversion of a user's costs, from CUDA or Python, to minimised costs on the device. Reads a
// cost; reports invalid ones. No random numbers.
#pragma once

#include "core/priced.cuh"
#include "problems/faults.cuh"

namespace problem {

template <class T>
constexpr bool IS_REAL = false;
template <>
constexpr bool IS_REAL<double> = true;
template <>
constexpr bool IS_REAL<float> = true;

// Largest integer cost: differences must fit into 64 bits.
constexpr int64_t LARGEST = int64_t(1) << (COSTS_PRICED ? 60 : 62);

// The type of costs.
#if COSTS_REAL
using Cost = double;
#else
using Cost = int64_t;
#endif

// Convert a user's cost change to that of a minimised cost.
template <class Value>
__device__ int64_t minimised(Value value) {
    static_assert(IS_REAL<Value> == (COSTS_REAL != 0),
                  "the functions of this problem must return the same type: long long or double");
    if constexpr (IS_REAL<Value>) {
        return real::ordered(STATED_MAXIMISES ? -double(value) : double(value));
    } else {
        return STATED_MAXIMISES ? -int64_t(value) : int64_t(value);
    }
}

// Convert a user's cost to a minimised one, and report an invalid one.
template <class Value>
__device__ int64_t minimised(Value value, int64_t* faults) {
    if constexpr (IS_REAL<Value>) {
        if (value != value) report(faults, NOT_A_NUMBER);
        if (value == (STATED_MAXIMISES ? INFINITY : -INFINITY)) report(faults, BEST_INFINITY);
    } else if (value < -LARGEST || value > LARGEST) {
        report(faults, TOO_LARGE, value);
        return LARGEST;
    }
    return minimised(value);
}

}  // namespace problem
