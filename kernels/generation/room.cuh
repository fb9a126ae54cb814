// Computes the scratch memory of a block: runs the same constructors on a `Scratch` of a null
// pointer. Reads only sizes; writes `bytes`. No random numbers.
#pragma once

#include "algorithms/base.cuh"

namespace generation {

__device__ void raise_to(int64_t& most, const Scratch& scratch) {
    if (scratch.bytes() > most) most = scratch.bytes();
}

}  // namespace generation

// Write the bytes of the large and the small part of a block's arena. Parts that are used at
// different times share memory.
KERNEL(room, (Islands all, problem::Data data, algorithm::Plan plan, improver::Plan improving,
              int64_t* bytes)) {
    Scratch scratch(nullptr), small(nullptr);
    const encoding::Decoder decoder(scratch, small, all.shape);
    const algorithm::Mover mover(all, plan, scratch);
    int64_t most = mover.room(scratch);
    const int items = genes::items(all.shape);
    Scratch of_problem = scratch, of_improver = scratch;
    const problem::Workspace evaluation(of_problem, items, data);
    generation::raise_to(most, of_problem);
    const improver::Workspace improvement(of_improver, improving, nullptr, items, data);
    generation::raise_to(most, of_improver);
    if (threadIdx.x == 0) bytes[0] = most, bytes[1] = small.bytes();
}
