// Groups of neighbouring threads of a warp that share work; on the CPU, a group is one thread.
// Reads a value of each thread, and returns the sum to all threads of the group, or a vote to those
// of the warp. No random numbers.
#pragma once

#include "core/block.cuh"

namespace block {

class Groups {
  public:
#ifdef __CUDACC__
    // The number of threads is the largest power of two up to `items` and the warp size.
    __device__ explicit Groups(int items) {
        while (2 << shift_ <= min(items, WARP)) ++shift_;
    }

    __device__ int count() const { return blockDim.x >> shift_; }
    __device__ int index() const { return threadIdx.x >> shift_; }
    __device__ int threads() const { return 1 << shift_; }
    __device__ int thread() const { return threadIdx.x & (threads() - 1); }

    // Return the sum of integers in the group. Called by all threads of the warp.
    template <class T>
    __device__ T sum(T value) const {
        if constexpr (sizeof(T) == 4) {
            if (threads() == WARP) return __reduce_add_sync(ALL, value);
        }
        for (int step = threads() / 2; step > 0; step /= 2) {
            value += __shfl_xor_sync(ALL, value, step);
        }
        return value;
    }

    // Return whether this thread has the largest value of its group; ties are broken by the lowest
    // place, which must be unique. Called by all threads of the warp.
    __device__ bool has_largest(int64_t value, int place) const {
        int64_t largest = value;
        int first = place;
        for (int step = threads() / 2; step > 0; step /= 2) {
            const int64_t other = __shfl_xor_sync(ALL, largest, step);
            const int at = __shfl_xor_sync(ALL, first, step);
            if (other > largest || (other == largest && at < first)) largest = other, first = at;
        }
        return first == place;
    }

    // Return whether `vote` is true in any thread of the warp.
    __device__ static bool any_of_warp(bool vote) { return __any_sync(ALL, vote); }

  private:
    int shift_ = 0;
#else
    explicit Groups(int) {}

    int count() const { return 1; }
    int index() const { return 0; }
    int threads() const { return 1; }
    int thread() const { return 0; }

    template <class T>
    T sum(T value) const {
        return value;
    }

    bool has_largest(int64_t, int) const { return true; }

    static bool any_of_warp(bool vote) { return vote; }
#endif
};

}  // namespace block
