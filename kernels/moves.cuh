// Moves: small changes of an order (Jardim 2021), each of the entries from u to v with u < v. Reads
// and writes the order in place. No random numbers.
#pragma once

#include "core/core.cuh"

// All threads of a block apply a move to an order in block memory, and all see the result.
namespace moves {

// Exchanges two entries.
struct Swap {
    int u, v;

    __device__ void apply(int32_t* order) const {
        if (threadIdx.x == 0) exchange(order);
        __syncthreads();
    }

    // Called by one thread; others see the result after the next barrier.
    __device__ void exchange(int32_t* order) const {
        const int32_t entry = order[u];
        order[u] = order[v];
        order[v] = entry;
    }
};

// Reverses the entries from u to v.
struct Reversal {
    int u, v;

    // Return the current position of the entry that `position`, from u to v, will have.
    __device__ int source(int position) const { return u + v - position; }

    __device__ void apply(int32_t* order) const {
        for (int i = threadIdx.x; i < (v - u + 1) / 2; i += blockDim.x) {
            Swap{u + i, v - i}.exchange(order);
        }
        __syncthreads();
    }
};

// Removes the entry at u, moves those after it to the left, and inserts it at v.
struct Insertion {
    int u, v;

    // Return the current position of the entry that `position`, from u to v, will have.
    __device__ int source(int position) const { return position < v ? position + 1 : u; }

    __device__ void apply(int32_t* order) const {
        const int32_t entry = order[u];
        for (int first = u; first < v; first += blockDim.x) {
            const int i = first + threadIdx.x;
            const int32_t next = order[min(i + 1, v)];
            __syncthreads();
            if (i < v) order[i] = next;
            __syncthreads();
        }
        if (threadIdx.x == 0) order[v] = entry;
        __syncthreads();
    }
};

}  // namespace moves
