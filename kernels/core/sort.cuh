// Sorting in shared memory: pairs or words by all threads (bitonic on a GPU), and a few numbers by
// one thread. Sorts in place. Results do not depend on the number of threads.
// No random numbers.
#pragma once

#include "core/block.cuh"

namespace block {

__device__ int power_of_two(int n) {
    int power = 1;
    while (power < n) power *= 2;
    return power;
}

#ifdef __CUDACC__
// Call compare(i, j, ascends) for the pairs i < j of a bitonic sort of `size` entries, a power of
// two. compare() must sort the two entries, in descending order if `ascends` is false.
template <class Compare>
__device__ void bitonic(int size, Compare compare) {
    __syncthreads();
    for (int run = 2; run <= size; run *= 2) {
        for (int step = run / 2; step > 0; step /= 2) {
            // For steps up to 32, a warp compares within 64 entries that no other warp accesses.
            if (step >= WARP) __syncthreads();
            __syncwarp();
            for (int k = threadIdx.x; k < size / 2; k += blockDim.x) {
                const int i = 2 * k - (k & (step - 1));
                compare(i, i + step, (i & run) == 0);
            }
        }
    }
    __syncthreads();
}
#endif

// Sort n pairs by (value, index). Both arrays need room for power_of_two(n) entries.
__device__ void sort(int64_t* value, uint32_t* index, int n) {
#ifdef __CUDACC__
    const int size = power_of_two(n);
    for (int i = n + threadIdx.x; i < size; i += blockDim.x) {
        value[i] = 0x7fffffffffffffffll;
        index[i] = 0xffffffffu;
    }
    bitonic(size, [=](int i, int j, bool ascends) {
        const Ranked a{value[i], index[i]}, b{value[j], index[j]};
        if (b.before(a) == ascends) {
            value[i] = b.value, index[i] = b.index;
            value[j] = a.value, index[j] = a.index;
        }
    });
#else
    Ranked* const pairs = reinterpret_cast<Ranked*>(host::sorting_memory(n * sizeof(Ranked)));
    for (int i = 0; i < n; ++i) pairs[i] = {value[i], index[i]};
    std::sort(pairs, pairs + n, [](const Ranked& a, const Ranked& b) { return a.before(b); });
    for (int i = 0; i < n; ++i) value[i] = pairs[i].value, index[i] = pairs[i].index;
#endif
}

// Sort n distinct words. The array needs room for power_of_two(n) words.
__device__ void sort(uint64_t* word, int n) {
#ifdef __CUDACC__
    const int size = power_of_two(n);
    for (int i = n + threadIdx.x; i < size; i += blockDim.x) word[i] = ~0ull;
    bitonic(size, [=](int i, int j, bool ascends) {
        const uint64_t a = word[i], b = word[j];
        if ((b < a) == ascends) word[i] = b, word[j] = a;
    });
#else
    // An explicit comparison: libc++ implements the default one in its runtime library.
    std::sort(word, word + n, [](uint64_t a, uint64_t b) { return a < b; });
#endif
}

// Sort a few distinct numbers in one thread: insertion sort, or heapsort if n is above 32.
template <class T>
__device__ void sort_few(T* item, int n) {
    if (n > 32) {
        for (int built = n / 2, left = n; left > 1;) {
            if (built > 0) {
                --built;
            } else {
                --left;
                exchange(item[left], item[0]);
            }
            const T sinking = item[built];
            int hole = built;
            for (int child; (child = 2 * hole + 1) < left; hole = child) {
                if (child + 1 < left && item[child + 1] > item[child]) ++child;
                if (item[child] <= sinking) break;
                item[hole] = item[child];
            }
            item[hole] = sinking;
        }
        return;
    }
    for (int i = 1; i < n; ++i) {
        const T inserted = item[i];
        int hole = i;
        for (; hole > 0 && item[hole - 1] > inserted; --hole) item[hole] = item[hole - 1];
        item[hole] = inserted;
    }
}

}  // namespace block
