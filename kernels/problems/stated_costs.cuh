// Costs as a user states them, in CUDA or in Python, as costs that the device minimises. Reads a
// cost; writes reports of wrong ones. No random numbers.
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

// Return a change of the cost as the user states it for one that is minimised.
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

// Return a cost of the user as one that is minimised, and report a wrong one.
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
