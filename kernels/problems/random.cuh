// Random numbers for user functions, generated from the random words of a proposal. No random
// numbers here: the caller passes random words.
#pragma once

#include "core/draw.cuh"

namespace problem {

class Random {
  public:
    __device__ explicit Random(const uint4& words)
        : state_(uint64_t(words.x) << 32 | words.y), step_(uint64_t(words.z) << 1 | 1) {}

    // Return a random word, from a linear congruential generator with mixed output.
    __device__ uint32_t word() {
        state_ = state_ * 6364136223846793005ull + step_;
        uint32_t mixed = uint32_t(state_ >> 32) ^ uint32_t(state_ >> 13);
        mixed = (mixed ^ mixed >> 16) * 0x85ebca6bu;
        return mixed ^ mixed >> 13;
    }

    // Return an integer in [0, bound).
    __device__ int below(int bound) { return int(draw::below(word(), uint32_t(bound))); }

  private:
    uint64_t state_;
    const uint64_t step_;
};

}  // namespace problem
