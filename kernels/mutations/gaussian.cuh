// Gaussian mutation: adds normal numbers with standard deviation 0.1, a tenth of the range, to some
// genes. Reads and writes one row. No random numbers here: all come from the caller's random words.
#pragma once

#include "core/exact.cuh"
#include "mutations/some.cuh"

namespace mutation {

// Return a normal number with mean 0 and variance 1 (Box and Muller 1958).
__device__ double normal(uint32_t one, uint32_t other) {
    constexpr double TURN = 6.283185307179586;
    const double radius = sqrt(-2.0 * exact::log(draw::inner_fraction(one)));
    return radius * exact::cos(TURN * draw::fraction<double>(other));
}

__device__ void mutate(Scratch, Gene* row, const encoding::Shape& shape, uint32_t one,
                       uint32_t other) {
    constexpr double SIGMA = 0.1;
    change_some(row, shape.n, one, other, [](Gene gene, uint4 words) {
        return genes::clipped(Gene(gene + SIGMA * normal(words.x, words.y)));
    });
}

}  // namespace mutation
