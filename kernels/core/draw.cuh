// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011), or with fewer
// rounds. The key is the seed, and the counter identifies the purpose of a number
// (core/streams.cuh), so there is no state. The counter contains the low 32 bits of the generation;
// the high ones modify the key. Returns random words and numbers derived from them.
// Random streams: the one passed by the caller.
#pragma once

#include "core/compiler.cuh"
#include "core/streams.cuh"

namespace draw {

constexpr int ROUNDS = 10;
// The fewest rounds that passed all tests of the authors, for searches dominated by random draws.
constexpr int FEWEST_ROUNDS = 7;

template <int COUNT = ROUNDS>
__device__ uint4 philox(uint4 counter, uint32_t key0, uint32_t key1) {
    for (int round = 0; round < COUNT; ++round) {
        const uint32_t a = 0xD2511F53u, b = 0xCD9E8D57u;
        counter = {__umulhi(b, counter.z) ^ counter.y ^ key0, b * counter.z,
                   __umulhi(a, counter.x) ^ counter.w ^ key1, a * counter.x};
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}

// The counter of a draw: one individual of one island in one generation.
struct Place {
    uint64_t key;
    int64_t generation;
    uint32_t island, individual;

    // Multiples of an odd number are distinct, so no two generations of a run share both key and
    // counter; multiples of 2^64 / golden ratio are far from nearby seeds.
    __device__ Place(uint64_t seed, uint32_t island, int64_t generation, uint32_t individual)
        : key(seed + (uint64_t(generation) >> 32) * 0x9E3779B97F4A7C15ull),
          generation(generation),
          island(island),
          individual(individual) {}

    // Return words 4*number to 4*number+3 of a stream.
    template <int COUNT = ROUNDS>
    __device__ uint4 words(uint32_t stream, uint32_t number) const {
        const uint4 counter = {number, individual, uint32_t(generation), stream << 24 | island};
        return philox<COUNT>(counter, uint32_t(key), uint32_t(key >> 32));
    }
};

// Return a multiple of 2^-24 in [0, 1).
__device__ float uniform(uint32_t word) { return float(word >> 8) * (1.0f / 16777216.0f); }

// Return a random gene in [0, 1): a multiple of 2^-24, or of 2^-32 in double precision.
template <class Gene>
__device__ Gene fraction(uint32_t word) {
    return uniform(word);
}

template <>
__device__ double fraction<double>(uint32_t word) {
    return word * (1.0 / 4294967296.0);
}

// Return a multiple of 2^-33 in (0, 1).
__device__ double inner_fraction(uint32_t word) { return (word + 0.5) * (1.0 / 4294967296.0); }

// Return an integer in [0, bound).
__device__ uint32_t below(uint32_t word, uint32_t bound) { return __umulhi(word, bound); }

// The same for 64 bits.
__device__ uint64_t below(uint64_t word, uint64_t bound) { return __umul64hi(word, bound); }

}  // namespace draw
