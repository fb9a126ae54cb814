// Two-point crossover: a segment from one mate, the rest from the other. Reads the mates, writes
// the children. No random numbers here: the cuts come from the caller's random word.
#pragma once

#include "crossovers/masked.cuh"

namespace crossover {

__device__ void cross(Scratch scratch, const Pair<Gene>& mates, const Pair<Gene>& children,
                      const encoding::Shape& shape, uint4 word, const draw::Place&) {
    const Segment kept = segment(word, genes::items(shape));
    by_mask(scratch, mates, children, shape, [&](int w) {
        return lowest_bits(kept.last + 1 - 32 * w) & ~lowest_bits(kept.first - 32 * w);
    });
}

}  // namespace crossover
