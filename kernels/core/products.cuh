// Returns sums of products of differences; on a GPU, four byte entries per instruction. Reads
// entries of four rows. No random numbers.
#pragma once

#include "core/compiler.cuh"

namespace block {

// Number of entries of two types that one step multiplies.
template <class A, class B>
__device__ constexpr int packed() {
#ifdef __CUDACC__
    return sizeof(A) == 1 && sizeof(B) == 1 ? 4 : 1;
#else
    return 1;
#endif
}

// Entries from one row to the next: an odd number of words puts neighbouring rows into different
// banks of shared memory.
template <class T>
__device__ int row_pitch(int n) {
    return int(((n * sizeof(T) + 3) / 4 | 1) * 4 / sizeof(T));
}

// Return the sum of (x - y) * (z - w) over the entries of pack k, all non-negative integers.
template <class Sum, class A, class B>
__device__ Sum difference_products(const A* x, const A* y, const B* z, const B* w, int k) {
#ifdef __CUDACC__
    if constexpr (packed<A, B>() == 4) {
        const auto word = [k](const void* row) { return static_cast<const uint32_t*>(row)[k]; };
        const uint32_t xs = word(x), ys = word(y), zs = word(z), ws = word(w);
        return Sum(int(__dp4a(xs, zs, __dp4a(ys, ws, 0u)) - __dp4a(xs, ws, __dp4a(ys, zs, 0u))));
    }
#endif
    // Differences fit into 32 bits, whose products of 64 bits are fast.
    return Sum(int(x[k]) - int(y[k])) * Sum(int(z[k]) - int(w[k]));
}

}  // namespace block
