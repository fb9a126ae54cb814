// The GPU's side of the words shared by both compilers: number types, kernels, and a block's arena.
#pragma once

using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long long;
using uint64_t = unsigned long long;

// Threads a block and the blocks that should share a multiprocessor bound the registers of a
// thread.
#ifndef ISLANDS_THREADS
#define ISLANDS_THREADS 256
#endif
#ifndef ISLANDS_BLOCKS
#define ISLANDS_BLOCKS 1
#endif

// Adds where nobody else does, without waiting for what was there.
__device__ void add(int64_t* number, int64_t more) {
    atomicAdd(reinterpret_cast<unsigned long long*>(number), more);
}

// Of the hardware's blocks, a multiprocessor holds too few to be busy with blocks of one warp. So
// two of these may lie side by side in one of the hardware's, where each only waits for itself.
#if ISLANDS_THREADS == 32
#define ISLANDS_BESIDE 2
#define __syncthreads() __syncwarp()

struct Count {
    unsigned x;
};
__device__ unsigned beside() { return threadIdx.y; }
__device__ Count own_block() { return {blockIdx.x * blockDim.y + threadIdx.y}; }
__device__ Count all_blocks() { return {gridDim.x * blockDim.y}; }
#define blockIdx own_block()
#define gridDim all_blocks()
#else
#define ISLANDS_BESIDE 1
__device__ unsigned beside() { return 0; }
#endif

#define KERNEL(name, parameters)                                                  \
    extern "C" __global__ void __launch_bounds__(ISLANDS_BESIDE* ISLANDS_THREADS, \
                                                 ISLANDS_BLOCKS / ISLANDS_BESIDE) name parameters

// A block's working memory, in two parts. Both lie in shared memory; where that is too small, the
// large part is a slice of global memory. Which one is known to the compiler, because it reaches
// shared memory by faster instructions.
struct Arena {
    char* memory;
    uint64_t large_bytes;
    uint64_t shared_bytes;  // both parts, where both lie in shared memory

    __device__ char* shared() const {
        extern __shared__ uint4 shared_memory[];
        return reinterpret_cast<char*>(shared_memory) + beside() * shared_bytes;
    }
#ifdef ISLANDS_GLOBAL_ARENA
    __device__ char* large() const { return memory + blockIdx.x * large_bytes; }
    __device__ char* small() const { return shared(); }
#else
    __device__ char* large() const { return shared(); }
    __device__ char* small() const { return shared() + large_bytes; }
#endif
};
