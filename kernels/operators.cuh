// The crossover and the mutation that an algorithm works with.
#pragma once

#include "algorithms/base.cuh"
#include ISLANDS_CROSSOVER
#include ISLANDS_MUTATION

namespace algorithm {

// Returns the bytes that either takes at most behind what was taken of a shelf.
__device__ int64_t operators_room(const Shelf& shelf, const encoding::Shape& shape) {
    Shelf crossing = shelf, mutating = shelf;
    const crossover::Desk first(crossing, shape);
    const mutation::Desk second(mutating, shape);
    return crossing.bytes() > mutating.bytes() ? crossing.bytes() : mutating.bytes();
}

}  // namespace algorithm
