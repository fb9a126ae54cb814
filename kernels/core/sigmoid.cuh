// The logistic function. Uses only additions, multiplications and divisions that are bit-identical
// on all devices. No random numbers.
#pragma once

#include "core/core.cuh"

namespace sigmoid {

// Beyond this, powers of e are no longer normal floats.
constexpr float FARTHEST = 87.0f;

// Return e^x for |x| up to FARTHEST: a power of two times e^r with |r| of at most ln(2) / 2, which
// is computed as a series.
__device__ float exponential(float x) {
    constexpr float LOG2_OF_E = 1.44269504f;
    // These sum up to ln(2). The first has so few bits that its product with a power is exact.
    constexpr float LN2 = 0.693115234375f, REST_OF_LN2 = 3.19461849e-5f;
    // Adding this rounds to an integer, which is then in the low bits of the sum.
    constexpr float WHOLE = 12582912.0f;
    const float shifted = x * LOG2_OF_E + WHOLE, power = shifted - WHOLE;
    const float rest = x - power * LN2 - power * REST_OF_LN2;
    float sum = 1.0f / 720.0f;
    sum = sum * rest + 1.0f / 120.0f;
    sum = sum * rest + 1.0f / 24.0f;
    sum = sum * rest + 1.0f / 6.0f;
    sum = sum * rest + 0.5f;
    sum = sum * rest + 1.0f;
    sum = sum * rest + 1.0f;
    return sum * __uint_as_float((__float_as_uint(shifted) + 127u) << 23);
}

// Return 1 / (1 + e^-x).
__device__ float of(float x) {
    const float below = x > FARTHEST ? FARTHEST : x;
    const float within = below < -FARTHEST ? -FARTHEST : below;
    return 1.0f / (1.0f + exponential(-within));
}

}  // namespace sigmoid
