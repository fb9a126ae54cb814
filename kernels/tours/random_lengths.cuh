// Edge lengths increased by random shares, so that tours constructed from short edges differ: an
// edge has the same share in both directions. Reads the problem and a key that the caller draws;
// returns lengths in units of 1 / 256. No random numbers of its own.
#pragma once

#include "core/core.cuh"

namespace tours {

struct RandomLengths {
    const problem::Data& data;
    int n;
    uint4 key;
    uint32_t spread;  // lengths are multiplied by a random number from 1 to 1 + spread / 256

    __device__ int64_t of(int from, int to) const {
        const uint32_t low = min(from, to), high = max(from, to);
        uint32_t word = (low ^ key.x) * 0x9E3779B1u + (high ^ key.y) * 0x85EBCA77u;
        word = (word ^ word >> 15) * 0x2C1B3C6Du;
        word = (word ^ word >> 12) * 0x297A2D39u + key.z;
        const int64_t length =
            problem::distance(data, n, problem::city(data, n, from), problem::city(data, n, to));
        return length * (256 + int(__umulhi(word ^ word >> 15, spread + 1)));
    }
};

}  // namespace tours
