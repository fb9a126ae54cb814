// Atomic operations whose result does not depend on their order: sums of integers, maxima, minima
// and bits. Reads and writes words shared by threads or blocks. Other atomic operations must not be
// used. No random numbers.
#pragma once

#include "core/core.cuh"

#ifdef __CUDACC__

__device__ void raise(uint64_t* word, uint64_t value) {
    atomicMax(reinterpret_cast<unsigned long long*>(word), value);
}
__device__ void lower(int32_t* word, int32_t value) { atomicMin(word, value); }
__device__ void set_bits(uint32_t* word, uint32_t bits) { atomicOr(word, bits); }
__device__ void add(int32_t* word, int32_t value) { atomicAdd(word, value); }
// For words that other blocks also change.
__device__ void add_shared(int32_t* word, int32_t value) { atomicAdd(word, value); }

#else

// Within one block, which is one thread, no atomic operation is needed.
__device__ void raise(uint64_t* word, uint64_t value) { *word = max(*word, value); }
__device__ void lower(int32_t* word, int32_t value) { *word = min(*word, value); }
__device__ void set_bits(uint32_t* word, uint32_t bits) { *word |= bits; }
__device__ void add(int32_t* word, int32_t value) { *word += value; }
__device__ void add_shared(int32_t* word, int32_t value) {
    __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}

#endif
