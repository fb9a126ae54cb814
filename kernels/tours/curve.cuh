// Constructs a tour along a Hilbert curve that fills a square of twice the extent of the cities.
// The square has a random position, so that tours differ. Cities in the same cell are ordered by
// number. Reads the coordinates and a key that the caller draws; writes a tour. No random numbers
// of its own.
#pragma once

#include "core/core.cuh"

namespace tours {

constexpr int CURVE_BITS = 20;  // bits of the cells along each side of the square
constexpr int CITY_BITS = 24;

// Return the place of a cell along the curve.
__device__ uint64_t along_curve(uint32_t x, uint32_t y) {
    uint64_t place = 0;
    for (uint32_t half = 1u << (CURVE_BITS - 1); half > 0; half /= 2) {
        const uint32_t right = (x & half) != 0, upper = (y & half) != 0;
        place = place << 2 | (3 * right ^ upper);
        if (upper) continue;
        // The curve is rotated in the lower quadrants.
        const uint32_t turned = right ? ~y : y;
        y = right ? ~x : x;
        x = turned;
    }
    return place;
}

// Write a tour, using all threads. `frame` has the minimum coordinates, and the cells per unit;
// `words` has room for n entries, rounded up to a power of two.
__device__ void follow_curve(const problem::Data& data, int n, const double* frame, uint4 key,
                             uint64_t* words, int32_t* order) {
#if !TSP_IS_MATRIX
    const uint32_t shift_x = key.x >> (33 - CURVE_BITS), shift_y = key.y >> (33 - CURVE_BITS);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const double2 here = data.coordinates[i];
        const uint32_t x = uint32_t((here.x - frame[0]) * frame[2]) + shift_x;
        const uint32_t y = uint32_t((here.y - frame[1]) * frame[2]) + shift_y;
        words[i] = along_curve(x, y) << CITY_BITS | uint32_t(i);
    }
    block::sort(words, n);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        order[i] = int32_t(words[i] & ((1u << CITY_BITS) - 1));
    }
    __syncthreads();
#endif
}

}  // namespace tours
