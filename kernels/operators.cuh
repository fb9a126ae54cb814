// The crossover and the mutation that an algorithm works with.
#pragma once

#include "algorithms/base.cuh"
#include ISLANDS_CROSSOVER
#include ISLANDS_MUTATION

namespace algorithm {

// Returns the bytes that either takes at most behind what was taken of a scratch.
__device__ int64_t operators_room(const Scratch& scratch, const encoding::Shape& shape) {
    Scratch crossing = scratch, mutating = scratch;
    const crossover::Workspace first(crossing, shape);
    const mutation::Workspace second(mutating, shape);
    return crossing.bytes() > mutating.bytes() ? crossing.bytes() : mutating.bytes();
}

}  // namespace algorithm
