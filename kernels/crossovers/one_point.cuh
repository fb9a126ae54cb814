// One-point crossover: the items before the cut from one mate, the rest from the other. Reads the
// mates, writes the children. No random numbers here: the cut comes from the caller's random word.
#pragma once

#include "crossovers/masked.cuh"

namespace crossover {

__device__ void cross(Scratch scratch, const Pair<Gene>& mates, const Pair<Gene>& children,
                      const encoding::Shape& shape, uint4 word, const draw::Place&) {
    const int cut = 1 + draw::below(word.z, genes::items(shape) - 1);
    by_mask(scratch, mates, children, shape, [&](int w) { return lowest_bits(cut - 32 * w); });
}

}  // namespace crossover
