// Reverses the genes between two places: the 2-opt move of a tour. Reads and writes one row. No
// random numbers here: both places come from the caller's random words.
#pragma once

#include "mutations/base.cuh"

namespace mutation {

__device__ void mutate(Scratch, Gene* row, const encoding::Shape& shape, uint32_t one,
                       uint32_t other) {
    const int u = draw::below(one, shape.n), v = draw::below(other, shape.n);
    const int first = min(u, v), last = max(u, v);
    __syncthreads();
    for (int i = threadIdx.x; 2 * i < last - first; i += blockDim.x) {
        const Gene low = row[first + i], high = row[last - i];
        row[first + i] = high;
        row[last - i] = low;
    }
}

}  // namespace mutation
