// Includes the crossover and the mutation of an algorithm (ISLANDS_CROSSOVER, ISLANDS_MUTATION),
// and returns the scratch memory that they need. No random numbers here.
#pragma once

#include "algorithms/base.cuh"
#include ISLANDS_CROSSOVER
#include ISLANDS_MUTATION

namespace algorithm {

// Return the bytes taken so far plus the maximum that one of the operators needs.
__device__ int64_t operators_room(const Scratch& scratch, const encoding::Shape& shape) {
    Scratch crossing = scratch, mutating = scratch;
    const crossover::Workspace first(crossing, shape);
    const mutation::Workspace second(mutating, shape);
    return crossing.bytes() > mutating.bytes() ? crossing.bytes() : mutating.bytes();
}

}  // namespace algorithm
