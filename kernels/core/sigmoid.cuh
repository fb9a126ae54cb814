// The logistic function by additions, multiplications and divisions alone, which give the same bits
// on every device.
#pragma once

#include "core/core.cuh"

namespace sigmoid {

// Beyond, powers of e leave the range of floats that have all their bits.
constexpr float FARTHEST = 87.0f;

// Returns e to the power of x, where x is not farther from zero than that: a power of two times
// e to the power of a rest of at most ln(2) / 2, which is summed as a series.
__device__ float exponential(float x) {
    constexpr float LOG2_OF_E = 1.44269504f;
    // Together ln(2). The first has so few bits that its product with a power is exact.
    constexpr float LN2 = 0.693115234375f, REST_OF_LN2 = 3.19461849e-5f;
    // Floats from this one on are whole numbers, which end in the bits of what was added.
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

// Returns 1 / (1 + e^-x).
__device__ float of(float x) {
    const float below = x > FARTHEST ? FARTHEST : x;
    const float within = below < -FARTHEST ? -FARTHEST : below;
    return 1.0f / (1.0f + exponential(-within));
}

}  // namespace sigmoid
