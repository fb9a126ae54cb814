// Flips one bit. Reads and writes one row. No random numbers here: the bit comes from the caller's
// random word.
#pragma once

#include "mutations/base.cuh"

namespace mutation {

__device__ void mutate(Scratch, Gene* row, const encoding::Shape& shape, uint32_t one, uint32_t) {
    __syncthreads();
    const int item = draw::below(one, genes::items(shape));
    if (threadIdx.x == 0) row[item / 32] ^= 1u << (item % 32);
}

}  // namespace mutation
