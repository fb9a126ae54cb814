// Votes of the threads of a block. Reads a value of each thread, and returns the result to all;
// every thread of the block must call. No random numbers.
#pragma once

#include "core/block.cuh"

namespace block {

// Return whether `mine` is true in any thread.
__device__ bool any(bool mine) {
#ifdef __CUDACC__
    if (ISLANDS_THREADS == WARP) return __any_sync(ALL, mine);
    return __syncthreads_or(mine);
#else
    return mine;
#endif
}

// Return the lowest thread in which `mine` is true, or the number of threads if there is none.
__device__ int first(bool mine) {
#ifdef __CUDACC__
    __shared__ uint32_t partial[WARP];
    const uint32_t said = __ballot_sync(ALL, mine);
    if (ISLANDS_THREADS == WARP) return said ? __ffs(said) - 1 : WARP;
    __syncthreads();  // the result of an earlier call has been read
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
