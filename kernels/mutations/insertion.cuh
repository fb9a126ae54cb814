// Moves a gene to another place; those in between shift. Reads and writes one row. No random
// numbers here: both places come from the caller's random words.
#pragma once

#include "mutations/row_before.cuh"

namespace mutation {

__device__ void mutate(Scratch scratch, Gene* row, const encoding::Shape& shape, uint32_t one,
                       uint32_t other) {
    const int n = shape.n, from = draw::below(one, n), to = draw::below(other, n);
    const int first = min(from, to), last = from + to - first;
    Gene* const before = Workspace(scratch, shape).before;
    __syncthreads();
    for (int i = first + threadIdx.x; i <= last; i += blockDim.x) before[i] = row[i];
    __syncthreads();
    for (int i = first + threadIdx.x; i <= last; i += blockDim.x) {
        row[i] = before[i == to ? from : from < to ? i + 1 : i - 1];
    }
}

}  // namespace mutation
