// Defines for GPUs what core/host.hpp defines for CPUs: number types, kernel declarations, and the
// arena of a block. No random numbers.
#pragma once

using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long long;
using uint64_t = unsigned long long;

// Threads per block, and resident blocks per multiprocessor; they limit the registers per thread.
#ifndef ISLANDS_THREADS
#define ISLANDS_THREADS 256
#endif
#ifndef ISLANDS_BLOCKS
#define ISLANDS_BLOCKS 1
#endif

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif

// Whether polling a word that the host may change is cheap.
constexpr bool POLLING_IS_CHEAP = false;

// Number of values to read before the first is used, to hide the latency.
constexpr int READS_AT_ONCE = 8;

// Whether a table should be copied to shared memory before all threads look up values in it.
constexpr bool SHARED_MEMORY_IS_FASTER = true;

// Add to a number that no other thread changes, without waiting for the old value.
__device__ void add(int64_t* number, int64_t more) {
    atomicAdd(reinterpret_cast<unsigned long long*>(number), more);
}

// In a block of one warp, a warp barrier is enough.
#if ISLANDS_THREADS == 32
#define __syncthreads() __syncwarp()
#endif

// Return the next job of a block. If arenas are in shared memory, each block has exactly one job,
// and the compiler must know this: otherwise it hoists loop invariants, even rarely used ones, and
// runs out of registers.
__device__ int next_job(int job) {
#ifdef ISLANDS_GLOBAL_ARENA
    return job + gridDim.x;
#else
    return 0x7fffffff;
#endif
}

#define KERNEL(name, parameters) KERNEL_OF(ISLANDS_THREADS, ISLANDS_BLOCKS, name, parameters)

// A kernel with at most `threads` threads per block, independently of the program's default.
// Registers are limited so that at least `blocks` of them fit on a multiprocessor.
#define KERNEL_OF(threads, blocks, name, parameters) \
    KERNEL_IN_PIECE(name)(threads, blocks) name parameters
#define WITH_KERNEL(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)
#define WITHOUT_KERNEL(threads, blocks) \
    template <int>                      \
    __device__ void

// The scratch memory of a block, in two parts. Both are in shared memory if it is large enough;
// otherwise the large part is a slice of global memory. The choice is made at compile time, as
// instructions for shared memory are faster.
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
