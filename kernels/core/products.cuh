// Sums of products of differences: on a GPU, four one-byte entries per instruction and sixteen
// per access; on a CPU, vectors of sixteen entries. Reads entries of four rows. No random numbers.
#pragma once

#include "core/compiler.cuh"

namespace block {

// Number of entries of types A and B that are multiplied per step.
template <class A, class B>
__device__ constexpr int packed() {
#ifdef __CUDACC__
    return sizeof(A) == 1 && sizeof(B) == 1 ? 16 : 1;
#else
    return 16;  // vector instructions without a remainder
#endif
}

// Row stride for entries that are read in groups of PACK: an odd number of words, so that
// neighbouring rows are in different banks of shared memory.
template <class T, int PACK = 1>
__device__ int row_pitch(int n) {
    constexpr int WORD = PACK * sizeof(T) > 4 ? PACK * sizeof(T) : 4;
    return int(((n * sizeof(T) + WORD - 1) / WORD | 1) * WORD / sizeof(T));
}

#ifdef __CUDACC__
// Add the products of 16 bytes to `sum`, and return it.
__device__ uint32_t dot(uint4 x, uint4 y, uint32_t sum) {
    return __dp4a(x.x, y.x, __dp4a(x.y, y.y, __dp4a(x.z, y.z, __dp4a(x.w, y.w, sum))));
}
#endif

// Return the sum of (x - y) * (z - w) over the entries of pack k, all non-negative integers.
template <class Sum, class A, class B>
__device__ Sum difference_products(const A* x, const A* y, const B* z, const B* w, int k) {
#ifdef __CUDACC__
    if constexpr (packed<A, B>() == 16) {
        const auto pack = [k](const void* row) { return static_cast<const uint4*>(row)[k]; };
        const uint4 xs = pack(x), ys = pack(y), zs = pack(z), ws = pack(w);
        const uint32_t same = dot(xs, zs, dot(ys, ws, 0)), other = dot(xs, ws, dot(ys, zs, 0));
        return Sum(int(same - other));
    }
#endif
    // Differences fit into 32 bits, and 64-bit products of 32-bit factors are fast.
    constexpr int PACK = packed<A, B>();
    x += k * PACK, y += k * PACK, z += k * PACK, w += k * PACK;
    Sum sum = 0;
#ifndef __CUDACC__
#pragma GCC unroll 1  // GCC vectorises a loop but not unrolled bodies
#endif
    for (int i = 0; i < PACK; ++i) sum += Sum(int(x[i]) - int(y[i])) * Sum(int(z[i]) - int(w[i]));
    return sum;
}

}  // namespace block
