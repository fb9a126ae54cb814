// Collective operations of the threads of a block, which must be called by every thread. They read
// a value of each thread or an array, and return the result to all threads or write it to the
// array. The result does not depend on the number of threads, which is 1 on the CPU. No random
// numbers.
#pragma once

#include "core/compiler.cuh"

namespace block {

// Exchange two values in one thread.
template <class T>
__device__ void exchange(T& x, T& y) {
    const T kept = x;
    x = y;
    y = kept;
}

#ifdef __CUDACC__
constexpr unsigned ALL = 0xffffffffu;
constexpr int WARP = 32;

static_assert(ISLANDS_THREADS % WARP == 0, "blocks are made of whole warps");

__device__ int lane() { return threadIdx.x % WARP; }
__device__ int warp() { return threadIdx.x / WARP; }
__device__ int warps() { return blockDim.x / WARP; }

// Combine one value per thread; `combine` is associative and commutative.
template <class T, class Combine>
__device__ T reduce(T value, Combine combine) {
    __shared__ T partial[WARP];
    for (int step = WARP / 2; step > 0; step /= 2) {
        const T other = value.shuffle_xor(step);
        value = combine(value, other);
    }
    if (ISLANDS_THREADS == WARP) return value;
    __syncthreads();  // the result of an earlier call has been read
    if (lane() == 0) partial[warp()] = value;
    __syncthreads();
    value = partial[0];
    for (int i = 1; i < warps(); ++i) value = combine(value, partial[i]);
    return value;
}
#else
template <class T, class Combine>
T reduce(T value, Combine) {
    return value;
}
#endif

struct Sum {
    int64_t value;
#ifdef __CUDACC__
    __device__ Sum shuffle_xor(int step) const { return {__shfl_xor_sync(ALL, value, step)}; }
#endif
};

// A value and its index; ordered by value, then by index.
struct Ranked {
    int64_t value;
    uint32_t index;

    __device__ bool before(const Ranked& other) const {
        return value < other.value || (value == other.value && index < other.index);
    }
#ifdef __CUDACC__
    __device__ Ranked shuffle_xor(int step) const {
        return {__shfl_xor_sync(ALL, value, step), __shfl_xor_sync(ALL, index, step)};
    }
#endif
};

// Return the sum over all threads, which must fit into 32 bits. A warp adds in one step.
__device__ int32_t sum(int32_t value) {
#ifdef __CUDACC__
    __shared__ int32_t partial[WARP];
    const int32_t of_warp = __reduce_add_sync(ALL, value);
    if (ISLANDS_THREADS == WARP) return of_warp;
    __syncthreads();  // the result of an earlier call has been read
    if (lane() == 0) partial[warp()] = of_warp;
    __syncthreads();
    return __reduce_add_sync(ALL, lane() < warps() ? partial[lane()] : 0);
#else
    return value;
#endif
}

__device__ int64_t sum(int64_t value) {
    return reduce(Sum{value}, [](Sum a, Sum b) { return Sum{a.value + b.value}; }).value;
}

#ifndef __CUDACC__
// On some systems, `long long` and int64_t are different types.
template <
    class T,
    std::enable_if_t<std::is_same_v<T, long long> && !std::is_same_v<int64_t, long long>, int> = 0>
__device__ T sum(T value) {
    return sum(int64_t(value));
}
#endif

// Disallowed for doubles: the sum would depend on the order, and thus on the number of threads.
template <int never = 0>
__device__ double sum(double value) {
    static_assert(never != 0,
                  "block::sum of doubles needs a fixed order: write block::sum(n, [&](int i) {"
                  " return ...; }), the sum for all i below n");
    return value;
}

template <int never = 0>
__device__ double sum(float value) {
    return sum<never>(double(value));
}

// Return the sum of term(i) for all i below n, in an order that does not depend on the number of
// threads.
template <class Term>
__device__ double sum(int n, Term term) {
    constexpr int PARTS = 64;
    __shared__ double part[PARTS];
    __syncthreads();  // the result of an earlier call has been read
    for (int k = threadIdx.x; k < PARTS; k += blockDim.x) {
        double total = 0.0;
        for (int i = k; i < n; i += PARTS) total += term(i);
        part[k] = total;
    }
    for (int half = PARTS / 2; half > 0; half /= 2) {
        __syncthreads();
        for (int k = threadIdx.x; k < half; k += blockDim.x) part[k] += part[k + half];
    }
    __syncthreads();
    return part[0];
}

__device__ Ranked argmin(Ranked entry) {
    return reduce(entry, [](Ranked a, Ranked b) { return a.before(b) ? a : b; });
}

// The smallest value and the lowest index that has it.
template <class T>
struct Least {
    static constexpr T NONE = T(~uint64_t(0) >> (65 - 8 * sizeof(T)));  // the largest value

    T value = NONE;
    uint32_t index = 0xffffffffu;
};

#ifdef __CUDACC__
template <class T>
__device__ Least<T> least_of_warp(Least<T> entry) {
    T value = entry.value;
    if constexpr (sizeof(T) == 4) {
        value = __reduce_min_sync(ALL, value);
    } else {
        for (int step = WARP / 2; step > 0; step /= 2) {
            const T other = __shfl_xor_sync(ALL, value, step);
            value = other < value ? other : value;
        }
    }
    return {value, __reduce_min_sync(ALL, entry.value == value ? entry.index : 0xffffffffu)};
}
#endif

// Return the minimum over all threads. It uses one barrier; another barrier is needed before the
// next call.
template <class T>
__device__ Least<T> least(Least<T> entry) {
#ifdef __CUDACC__
    __shared__ Least<T> partial[WARP];
    entry = least_of_warp(entry);
    if (lane() == 0) partial[warp()] = entry;
    __syncthreads();
    return least_of_warp(lane() < warps() ? partial[lane()] : Least<T>{});
#else
    return entry;
#endif
}

#ifdef __CUDACC__
// Call visit(j, sum) for every j below n, with the sum of term(j, k) over all k below `terms`.
// Neighbouring threads share a sum if there are more threads than sums.
template <class Sum, class Term, class Visit>
__device__ void sums(int n, int terms, Term term, Visit visit) {
    int shift = 0;  // log2 of the number of threads per sum
    while (2 << shift <= WARP && n << (shift + 1) <= blockDim.x) ++shift;
    const int sharers = 1 << shift, sharer = threadIdx.x & (sharers - 1);
    // A warp continues while its first lane has a sum, as all lanes take part in the shuffles.
    const int ahead = lane() >> shift;
    for (int j = threadIdx.x >> shift; j - ahead < n; j += blockDim.x >> shift) {
        Sum sum = 0;
        if (j < n) {
#pragma unroll 4
            for (int k = sharer; k < terms; k += sharers) sum += term(j, k);
        }
        for (int step = sharers / 2; step > 0; step /= 2) sum += __shfl_down_sync(ALL, sum, step);
        if (j < n && sharer == 0) visit(j, sum);
    }
}
#endif

// Return this thread's index counted from the last thread, for work alongside the first threads.
__device__ int from_last() { return blockDim.x - 1 - threadIdx.x; }

// Return the exclusive prefix sum of the values of all threads.
__device__ uint32_t sum_before(uint32_t value) {
#ifdef __CUDACC__
    __shared__ uint32_t partial[WARP];
    uint32_t through = value;
    for (int step = 1; step < WARP; step *= 2) {
        const uint32_t other = __shfl_up_sync(ALL, through, step);
        if (lane() >= step) through += other;
    }
    __syncthreads();
    if (lane() == WARP - 1) partial[warp()] = through;
    __syncthreads();
    uint32_t before = through - value;
    for (int i = 0; i < warp(); ++i) before += partial[i];
    return before;
#else
    return value - value;
#endif
}

// Replace each value by the sum of the values before it.
__device__ void scan(uint32_t* data, int n) {
    // An odd stride distributes the threads of a warp over different banks of shared memory.
    const int chunk = ((n + blockDim.x - 1) / blockDim.x) | 1;
    const int first = min(n, int(threadIdx.x) * chunk), last = min(n, first + chunk);
    uint32_t total = 0;
    for (int i = first; i < last; ++i) total += data[i];
    uint32_t before = sum_before(total);
    for (int i = first; i < last; ++i) {
        const uint32_t value = data[i];
        data[i] = before;
        before += value;
    }
    __syncthreads();
}

}  // namespace block
