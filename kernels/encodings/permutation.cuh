// A permutation: the genes are the solution itself. Declares the genes and the return type of the
// decoder of direct.cuh; `fill` writes a random row.
// Random streams: the one that the caller of `fill` names.
#pragma once

#include "core/core.cuh"

namespace encoding {

using Gene = int32_t;

// A solution in block memory.
struct Order {
    const int32_t* item;

    __device__ int operator[](int position) const { return item[position]; }
    // Return four entries, starting at a multiple of four; those past the end are undefined.
    __device__ uint4 four(int position) const {
        return *reinterpret_cast<const uint4*>(item + position);
    }
};

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
            const Gene gene = row[i];
            row[i] = row[other];
            row[other] = gene;
        }
    }
    __syncthreads();
}

}  // namespace encoding
