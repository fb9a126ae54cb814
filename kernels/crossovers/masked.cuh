// Base of the crossovers that take each item from one of the mates according to a bit mask. Reads
// the mates; writes the mask and the children. No random numbers here.
#pragma once

#include "crossovers/base.cuh"

namespace crossover {

struct Workspace {
    uint32_t* mask;

    __device__ Workspace(Scratch& scratch, const encoding::Shape& shape)
        : mask(scratch.take<uint32_t>((genes::items(shape) + 31) / 32)) {}
};

// Call word_of(w) for bits 32 w to 32 w + 31 of the mask; items whose bit is 1 come from the mate
// with the child's index.
template <class WordOf>
__device__ void by_mask(Scratch scratch, const Pair<Gene>& mates, const Pair<Gene>& children,
                        const encoding::Shape& shape, WordOf word_of) {
    const int words = (genes::items(shape) + 31) / 32;
    uint32_t* const mask = Workspace(scratch, shape).mask;
    for (int w = threadIdx.x; w < words; w += blockDim.x) mask[w] = word_of(w);
    __syncthreads();
    for_both(shape.n, [&](int side, int i) {
        children[side][i] = genes::mixed(mates[side], mates[1 - side], mask, i);
    });
}

// Return a word with the `count` lowest bits set; `count` may be negative or above 32.
__device__ uint32_t lowest_bits(int count) {
    return count <= 0 ? 0 : count >= 32 ? ~0u : (1u << count) - 1;
}

}  // namespace crossover
