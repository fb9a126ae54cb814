// Writes a new random value of one item. No random numbers here: the item and its value come from
// the caller's random words.
#pragma once

#include "mutations/base.cuh"

namespace mutation {

__device__ void mutate(Scratch, Gene* row, const encoding::Shape& shape, uint32_t one,
                       uint32_t other) {
    __syncthreads();
    if (threadIdx.x == 0) genes::redraw(row, shape, draw::below(one, genes::items(shape)), other);
}

}  // namespace mutation
