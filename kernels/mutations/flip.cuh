// One bit changes.
#pragma once

#include "mutations/base.cuh"

namespace mutation {

__device__ void mutate(Shelf, Gene* row, const encoding::Shape& shape, uint32_t one, uint32_t) {
    __syncthreads();
    const int thing = draw::below(one, genes::things(shape));
    if (threadIdx.x == 0) row[thing / 32] ^= 1u << (thing % 32);
}

}  // namespace mutation
