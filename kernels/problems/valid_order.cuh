// Checks solutions changed by user functions. Reads and changes orders; reports invalid ones. No
// random numbers.
#pragma once

#include "problems/solution.cuh"

namespace problem {

#if SOLUTION_KIND == SOLUTION_ORDER

// Report an order with a repeated item, and replace it by 0, 1, 2 ..., as operators would loop
// forever otherwise. The upper bit of entry k marks item k as found.
__device__ void require_order(int32_t* order, int n, const Data& data) {
    constexpr int32_t FOUND = int32_t(0x80000000), ITEM = 0x7fffffff;
    __shared__ int32_t repeated;
    if (threadIdx.x == 0) repeated = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int32_t item = order[i] & ITEM;
        if (atomicOr(&order[item], FOUND) & FOUND) {
            report(data._faults, REPEATED_ITEM, item);
            repeated = 1;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) order[i] = repeated ? i : order[i] & ITEM;
    __syncthreads();
}

#else

// Entries of other kinds of solutions are independent, and checked by `Changing`.
template <class Entry>
__device__ void require_order(const Entry*, int, const Data&) {}

#endif

}  // namespace problem
