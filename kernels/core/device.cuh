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

// Whether a look at a word that the host may change costs next to nothing.
constexpr bool LOOKS_ARE_CHEAP = false;

// Adds where nobody else does, without waiting for what was there.
__device__ void add(int64_t* number, int64_t more) {
    atomicAdd(reinterpret_cast<unsigned long long*>(number), more);
}

// A block of one warp needs no more than that the warp waits.
#if ISLANDS_THREADS == 32
#define __syncthreads() __syncwarp()
#endif

// Returns a block's job after another one. Where arenas are in shared memory, each job has a block
// of its own, and the compiler has to know that: before a loop it computes whatever is the same in
// every turn, even what is seldom needed, and runs out of registers.
__device__ int next_job(int job) {
#ifdef ISLANDS_GLOBAL_ARENA
    return job + gridDim.x;
#else
    return 0x7fffffff;
#endif
}

#define KERNEL(name, parameters) \
    extern "C" __global__ void __launch_bounds__(ISLANDS_THREADS, ISLANDS_BLOCKS) name parameters

// A block's working memory, in two parts. Both lie in shared memory; where that is too small, the
// large part is a slice of global memory. Which one is known to the compiler, because it reaches
// shared memory by faster instructions.
struct Arena {
    char* memory;
    uint64_t large_bytes;

    __device__ static char* shared() {
        extern __shared__ uint4 shared_memory[];
        return reinterpret_cast<char*>(shared_memory);
    }
#ifdef ISLANDS_GLOBAL_ARENA
    __device__ char* large() const { return memory + blockIdx.x * large_bytes; }
    __device__ char* small() const { return shared(); }
#else
    __device__ char* large() const { return shared(); }
    __device__ char* small() const { return shared() + large_bytes; }
#endif
};
