// Exchanges the genes of two items, which may be the same. Reads and writes one row. No random
// numbers here: both items come from the caller's random words.
#pragma once

#include "mutations/base.cuh"

namespace mutation {

__device__ void mutate(Scratch, Gene* row, const encoding::Shape& shape, uint32_t one,
                       uint32_t other) {
    __syncthreads();
    if (threadIdx.x > 0) return;
    const int n = genes::items(shape), u = draw::below(one, n), v = draw::below(other, n);
    const Gene at_u = genes::get(row, u), at_v = genes::get(row, v);
    genes::set(row, u, at_v);
    genes::set(row, v, at_u);
}

}  // namespace mutation
