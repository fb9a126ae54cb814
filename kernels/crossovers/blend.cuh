// Blend crossover (BLX-alpha: Eshelman and Schaffer 1993) with alpha = 0.5: each gene of a child is
// drawn from the interval between those of the mates, extended by alpha times its length on both
// sides. Reads the mates, writes the children. Random streams: CROSS.
#pragma once

#include "crossovers/base.cuh"

namespace crossover {

__device__ void cross(Scratch, const Pair<Gene>& mates, const Pair<Gene>& children,
                      const encoding::Shape& shape, uint4, const draw::Place& place) {
    constexpr double ALPHA = 0.5;
    for (int i = threadIdx.x; i < shape.n; i += blockDim.x) {
        const uint4 words = place.words(stream::CROSS, i / 2);
        const double one = mates[0][i], other = mates[1][i];
        const double low = one < other ? one : other,
                     length = one < other ? other - one : one - other;
        const auto drawn = [&](uint32_t word) {
            const double share = draw::fraction<double>(word) * (1.0 + 2.0 * ALPHA) - ALPHA;
            return genes::clipped(Gene(low + share * length));
        };
        children[0][i] = drawn(i % 2 ? words.z : words.x);
        children[1][i] = drawn(i % 2 ? words.w : words.y);
    }
}

}  // namespace crossover
