// Real costs (COSTS_REAL): doubles stored as 64-bit integers with the same order, so that code that
// only compares costs works on integers. Reads and returns single costs. No random numbers.
#pragma once

#include "core/marks.cuh"

#ifndef COSTS_REAL
#define COSTS_REAL 0
#endif

namespace real {

// The bits of positive doubles are ordered like integers, those of negative ones in reverse.
__device__ int64_t flipped(int64_t bits) { return bits < 0 ? bits ^ 0x7fffffffffffffffll : bits; }

// Return the integer for a real cost. All zeros are equal, and all NaN are equal and above
// infinity.
__device__ int64_t ordered(double cost) {
    if (cost != cost) return 0x7ff8000000000000ll;
    return flipped(__double_as_longlong(cost + 0.0));
}

__device__ int64_t ordered(int64_t cost) { return cost; }

// Return a cost on the device as a number, without its mark.
__device__ double value_of(int64_t cost) {
    if (COSTS_REAL) return __longlong_as_double(flipped(cost));
    return double(marks::cost_of(cost));
}

// Sums of real costs are in units of 2^64, so that the sum over all individuals is finite.
constexpr double OF_SUMS = 1.0 / 18446744073709551616.0;

// Return a finite number in the order of costs, so that costs can be subtracted.
__device__ double finite(int64_t cost) {
    if (!COSTS_REAL) return double(cost);
    const double largest = 1e300, value = value_of(cost);
    return value < -largest ? -largest : value < largest ? value : largest;
}

// Return a cost plus a change, which is encoded like a cost, so its integer has the same sign.
__device__ int64_t changed(int64_t cost, int64_t change) {
    if (!COSTS_REAL) return cost + change;
    return ordered(value_of(cost) + value_of(change));
}

// Return the advantage of a cost over the worst, as a share of the range of all costs, in steps of
// 2^-bits.
__device__ uint64_t advantage(int64_t cost, int64_t best, int64_t worst, int bits) {
    const double range = finite(worst) - finite(best);
    const double share = range > 0.0 ? (finite(worst) - finite(cost)) / range : 0.0;
    return uint64_t(share * double(1ull << bits));
}

}  // namespace real
