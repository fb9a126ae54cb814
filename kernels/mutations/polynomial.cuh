// Polynomial mutation (Deb and Goyal 1996) with distribution index 20, bounded as in NSGA-II:
// changes some genes, mostly a little. Reads and writes one row. No random numbers here: all come
// from the caller's random words.
#pragma once

#include "core/exact.cuh"
#include "mutations/some.cuh"

namespace mutation {

// Return the distance of a move towards a bound at the distance `room`; `share` is in (0, 1).
__device__ double distance(double room, double share) {
    const double left = 1.0 - room, second = left * left, fourth = second * second;
    const double eighth = fourth * fourth, power = eighth * eighth * fourth * left;
    return 1.0 - exact::pow(share + (1.0 - share) * power, 1.0 / 21.0);
}

__device__ void mutate(Scratch, Gene* row, const encoding::Shape& shape, uint32_t one,
                       uint32_t other) {
    change_some(row, shape.n, one, other, [](Gene gene, uint4 words) {
        const double from = gene, top = genes::highest(gene);
        const double share = draw::inner_fraction(words.x);
        const bool falls = words.y >> 31;
        const double to = falls ? from - distance(from, share) : from + distance(top - from, share);
        return genes::clipped(Gene(to));
    });
}

}  // namespace mutation
