// Uniform crossover: each item from either mate, chosen by a random bit. Reads the mates, writes
// the children. Random streams: CROSS.
#pragma once

#include "crossovers/masked.cuh"

namespace crossover {

__device__ void cross(Scratch scratch, const Pair<Gene>& mates, const Pair<Gene>& children,
                      const encoding::Shape& shape, uint4, const draw::Place& place) {
    by_mask(scratch, mates, children, shape, [&](int w) {
        const uint4 coins = place.words(stream::CROSS, w / 4);
        const uint32_t words[4] = {coins.x, coins.y, coins.z, coins.w};
        return words[w % 4];
    });
}

}  // namespace crossover
