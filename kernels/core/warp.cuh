// Operations of the warps of a block; on the CPU, a warp is one thread. No random numbers.
#pragma once

#include "core/block.cuh"

namespace warp {

struct Counts {
    int all, before;
};

#ifdef __CUDACC__
constexpr int SIZE = block::WARP;
__device__ int lane() { return block::lane(); }
__device__ int index() { return block::warp(); }
__device__ int count() { return block::warps(); }
__device__ void sync() { __syncwarp(); }
// Return the value of the first thread of the warp.
__device__ int first(int value) { return __shfl_sync(block::ALL, value, 0); }
// Return the value of a thread of the warp.
__device__ int of(int value, int lane) { return __shfl_sync(block::ALL, value, lane); }
// Return the first lane in which `vote` is true, or -1.
__device__ int find(bool vote) { return __ffs(__ballot_sync(block::ALL, vote)) - 1; }
// Return the number of lanes in which `vote` is true, in the warp and before this lane.
__device__ Counts counts(bool vote) {
    const unsigned lanes = __ballot_sync(block::ALL, vote);
    return {__popc(lanes), __popc(lanes & ((1u << lane()) - 1))};
}
// Return the sum of the values of all threads of the warp.
__device__ int sum(int value) { return __reduce_add_sync(block::ALL, value); }
// Return the largest value of all threads of the warp.
__device__ int most(int value) { return __reduce_max_sync(block::ALL, value); }
// Return the exclusive prefix sum of the values of the warp.
__device__ int sum_before(int value) {
    int through = value;
    for (int step = 1; step < SIZE; step *= 2) {
        const int other = __shfl_up_sync(block::ALL, through, step);
        if (lane() >= step) through += other;
    }
    return through - value;
}
// Return the smallest value and the lowest index that has it.
template <class T>
__device__ block::Least<T> least(block::Least<T> entry) {
    return block::least_of_warp(entry);
}
#else
constexpr int SIZE = 1;
__device__ int lane() { return 0; }
__device__ int index() { return 0; }
__device__ int count() { return 1; }
__device__ void sync() {}
__device__ int first(int value) { return value; }
__device__ int of(int value, int) { return value; }
__device__ int find(bool vote) { return vote ? 0 : -1; }
__device__ Counts counts(bool vote) { return {vote, 0}; }
__device__ int sum(int value) { return value; }
__device__ int most(int value) { return value; }
__device__ int sum_before(int) { return 0; }
template <class T>
__device__ block::Least<T> least(block::Least<T> entry) {
    return entry;
}
#endif

}  // namespace warp
