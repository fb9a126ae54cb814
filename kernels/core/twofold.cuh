// Arithmetic on unevaluated sums of two doubles, which have about 106 bits. Returns sums and
// products without rounding errors, as long as none overflows or underflows (Dekker 1971). No
// random numbers.
#pragma once

#include "core/core.cuh"

namespace exact {

__device__ double not_a_number() { return __longlong_as_double(0x7ff8000000000000); }

// The sum of two numbers; `low` is at most about half a unit in the last place of `high`.
struct Twofold {
    double high, low;
};

// Return one + other.
__device__ Twofold sum(double one, double other) {
    const double high = one + other, from_other = high - one;
    return {high, (one - (high - from_other)) + (other - from_other)};
}

// Return one + other in fewer operations, if |one| >= |other| or one is zero.
__device__ Twofold ordered_sum(double one, double other) {
    const double high = one + other;
    return {high, other - (high - one)};
}

// Return a number as the sum of two with 26 bits each, whose products are exact.
__device__ Twofold halves(double number) {
    const double scaled = 134217729.0 * number;  // 2^27 + 1
    const double high = scaled - (scaled - number);
    return {high, number - high};
}

// Return one * other, for numbers below 2^996.
__device__ Twofold product(double one, double other) {
    const double high = one * other;
    const Twofold a = halves(one), b = halves(other);
    const double low = ((a.high * b.high - high) + a.high * b.low + a.low * b.high) + a.low * b.low;
    return {high, low};
}

__device__ Twofold product(const Twofold& one, const Twofold& other) {
    const Twofold main = product(one.high, other.high);
    return ordered_sum(main.high, main.low + (one.high * other.low + one.low * other.high));
}

}  // namespace exact
