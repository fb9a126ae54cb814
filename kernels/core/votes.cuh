// Votes of the threads of a block. Reads a value of each thread, and returns the result to all;
// every thread of the block must call these functions. No random numbers.
#pragma once

#include "core/block.cuh"

namespace block {

// Return whether `vote` is true in any thread.
__device__ bool any(bool vote) {
#ifdef __CUDACC__
    if (ISLANDS_THREADS == WARP) return __any_sync(ALL, vote);
    return __syncthreads_or(vote);
#else
    return vote;
#endif
}

// Return the lowest thread in which `vote` is true, or the number of threads.
__device__ int first(bool vote) {
#ifdef __CUDACC__
    __shared__ uint32_t partial[WARP];
    const uint32_t votes = __ballot_sync(ALL, vote);
    if (ISLANDS_THREADS == WARP) return votes ? __ffs(votes) - 1 : WARP;
    __syncthreads();  // the result of an earlier call has been read
    if (lane() == 0) partial[warp()] = votes;
    __syncthreads();
    for (int i = 0; i < warps(); ++i) {
        if (partial[i]) return i * WARP + __ffs(partial[i]) - 1;
    }
    return blockDim.x;
#else
    return vote ? 0 : 1;
#endif
}

// A key and its value. The lowest key wins; NONE loses to all others.
template <class T>
struct Bid {
    static constexpr uint32_t NONE = 0xffffffffu;

    uint32_t key = NONE;
    T value{};
};

// Return the bid with the lowest key; keys of threads must differ. It uses one barrier, and
// consecutive calls must alternate `turn` between 0 and 1.
template <class T>
__device__ Bid<T> lowest(Bid<T> bid, int turn) {
#ifdef __CUDACC__
    const uint32_t best = __reduce_min_sync(ALL, bid.key);
    __shared__ uint32_t keys[2][WARP];
    __shared__ T values[2][WARP];
    if (bid.key == best && (best != bid.NONE || lane() == 0)) {
        keys[turn][warp()] = best;
        values[turn][warp()] = bid.value;
    }
    __syncthreads();
    const uint32_t key = lane() < warps() ? keys[turn][lane()] : bid.NONE;
    const uint32_t first = __reduce_min_sync(ALL, key);
    if (first == bid.NONE) return {};
    return {first, values[turn][__ffs(__ballot_sync(ALL, key == first)) - 1]};
#else
    return bid;
#endif
}

}  // namespace block
