// A permutation: the genes are the solution itself. Declares the genes and the return type of the
// decoder of direct.cuh; `fill` writes a random row.
// Random streams: the one passed to `fill`.
#pragma once

#include "encodings/solutions.cuh"

namespace encoding {

using Gene = int32_t;

using Solution = Order;

}  // namespace encoding

#include "encodings/direct.cuh"

namespace encoding {

// Draw a random row: from the last gene down, swap each with one at the same or an earlier place.
__device__ void fill(Gene* row, const Shape& shape, const draw::Place& place, uint32_t stream) {
    for (int i = threadIdx.x; i < shape.pitch; i += blockDim.x) row[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = shape.n - 1; i > 0; --i) {
            const uint4 word = place.words(stream, i / 4);
            const uint32_t words[4] = {word.x, word.y, word.z, word.w};
            const int other = draw::below(words[i % 4], i + 1);
            block::exchange(row[i], row[other]);
        }
    }
    __syncthreads();
}

}  // namespace encoding
