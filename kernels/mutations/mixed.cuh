// Applies one of three changes, each with probability 1/3: swaps the genes of two places, moves one
// of them to the other place, or reverses all genes between them. Reads and writes one row. No
// random numbers here: the places come from the caller's random words, which also select the
// change.
#pragma once

#include "mutations/row_before.cuh"

namespace mutation {

__device__ void mutate(Scratch scratch, Gene* row, const encoding::Shape& shape, uint32_t one,
                       uint32_t other) {
    enum { SWAP, INSERTION, REVERSAL, COUNT };
    const int n = shape.n, from = draw::below(one, n), to = draw::below(other, n);
    const int first = min(from, to), last = from + to - first;
    const int change = draw::below(draw::philox({0, 0, 0, 0}, one, other).x, COUNT);
    Gene* const before = Workspace(scratch, shape).before;
    __syncthreads();
    for (int i = first + threadIdx.x; i <= last; i += blockDim.x) before[i] = row[i];
    __syncthreads();
    for (int i = first + threadIdx.x; i <= last; i += blockDim.x) {
        int source = first + last - i;
        if (change == SWAP && i != from && i != to) source = i;
        if (change == INSERTION) source = i == to ? from : from < to ? i + 1 : i - 1;
        row[i] = before[source];
    }
}

}  // namespace mutation
