// Exchanges the genes of two items, which may be the same. Reads and writes one row. No random
// numbers here: both items come from the caller's random words.
#pragma once

#include "mutations/base.cuh"

namespace mutation {

__device__ void mutate(Scratch, Gene* row, const encoding::Shape& shape, uint32_t one,
                       uint32_t other) {
    __syncthreads();
    if (threadIdx.x > 0) return;
    const int n = genes::items(shape);
    genes::exchange(row, shape, draw::below(one, n), draw::below(other, n));
}

}  // namespace mutation
