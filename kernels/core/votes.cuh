// What the threads of a block tell each other by a yes or no. Every thread of the block must call;
// all get the result.
#pragma once

#include "core/block.cuh"

namespace block {

// Returns whether any thread says yes.
__device__ bool any(bool mine) {
#ifdef __CUDACC__
    if (ISLANDS_THREADS == WARP) return __any_sync(ALL, mine);
    return __syncthreads_or(mine);
#else
    return mine;
#endif
}

// Returns the lowest thread that says yes, or the number of threads where none does.
__device__ int first(bool mine) {
#ifdef __CUDACC__
    __shared__ uint32_t partial[WARP];
    const uint32_t said = __ballot_sync(ALL, mine);
    if (ISLANDS_THREADS == WARP) return said ? __ffs(said) - 1 : WARP;
    __syncthreads();  // an earlier call's result has been read
    if (lane() == 0) partial[warp()] = said;
    __syncthreads();
    for (int i = 0; i < warps(); ++i) {
        if (partial[i]) return i * WARP + __ffs(partial[i]) - 1;
    }
    return blockDim.x;
#else
    return mine ? 0 : 1;
#endif
}

}  // namespace block
