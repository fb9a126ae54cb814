// Defines the warps of a block; on the CPU, a warp is one thread. No random numbers.
#pragma once

#include "core/block.cuh"

namespace warp {

#ifdef __CUDACC__
constexpr int SIZE = block::WARP;
__device__ int lane() { return block::lane(); }
__device__ int index() { return block::warp(); }
__device__ int count() { return block::warps(); }
__device__ void sync() { __syncwarp(); }
// Return the value of the first thread of the warp.
__device__ int first(int mine) { return __shfl_sync(block::ALL, mine, 0); }
// Return the first lane in which `mine` is true, or -1 if there is none.
__device__ int find(bool mine) { return __ffs(__ballot_sync(block::ALL, mine)) - 1; }
#else
constexpr int SIZE = 1;
__device__ int lane() { return 0; }
__device__ int index() { return 0; }
__device__ int count() { return 1; }
__device__ void sync() {}
__device__ int first(int mine) { return mine; }
__device__ int find(bool mine) { return mine ? 0 : -1; }
#endif

}  // namespace warp
