// Emulates a GPU: replaces the kernels' core/device.cuh, so that a C++ compiler compiles what NVRTC
// would compile. A block has as many threads as on a GPU. Reads and writes that no barrier
// separates make results depend on the order of their turns; threads that wait at different places
// end the process with a message. No random numbers.
#pragma once

#include "core/threads.hpp"

namespace emulated {

// Give a value to the threads that come to the same place, and wait for them.
template <class T>
inline void give(State state, Values Thread::* of, Site site, T mine) {
    static_assert(sizeof(T) <= 8);
    Values& values = self().*of;
    std::memcpy(&values.last[values.given++ % 2], &mine, sizeof mine);
    wait(state, site);
}

// Return the value that another thread gave at the last common place. GCC's -Og, which the tests
// use, inlines only what is declared so.
template <class T>
inline T given(Values Thread::* of, unsigned number) {
    T value;
    std::memcpy(&value, &(threads[number].*of).last[((self().*of).given - 1) % 2], sizeof value);
    return value;
}

inline unsigned lane() { return thread.x % WARP; }

template <class T>
T shuffle(Site site, T mine, int from) {
    give(AT_WARP_STEP, &Thread::of_warp, site, mine);
    const bool is_inside = from >= 0 && from < WARP;
    return is_inside ? given<T>(&Thread::of_warp, thread.x - lane() + from) : mine;
}

template <class T, class Combine>
T reduce(Site site, T mine, Combine combine) {
    give(AT_WARP_STEP, &Thread::of_warp, site, mine);
    T all = given<T>(&Thread::of_warp, thread.x - lane());
    for (int i = 1; i < WARP; ++i)
        all = combine(all, given<T>(&Thread::of_warp, thread.x - lane() + i));
    return all;
}

inline bool any_of_block(Site site, bool mine) {
    give(AT_BARRIER, &Thread::of_block, site, mine);
    bool any = false;
    for (unsigned i = 0; i < size.x; ++i) {
        // Threads that had ended before gave fewer values.
        const bool votes = threads[i].of_block.given >= self().of_block.given;
        any |= votes && given<bool>(&Thread::of_block, i);
    }
    return any;
}

}  // namespace emulated

#undef __shared__
#define __shared__ static
#define threadIdx emulated::thread
#define blockDim emulated::size
#define POLLING_IS_CHEAP false
#define READS_AT_ONCE 8
#define SHARED_MEMORY_IS_FASTER true

// The operations of threads that wait for others. `site` is where a kernel calls them.
using emulated::Site;
inline void __syncwarp(Site site = Site::here()) { emulated::wait(emulated::AT_WARP_STEP, site); }
#if ISLANDS_THREADS == 32
#define __syncthreads() __syncwarp()
#else
#define __syncthreads() emulated::wait(emulated::AT_BARRIER, emulated::Site::here())
#endif
inline int __syncthreads_or(int mine, Site site = Site::here()) {
    return emulated::any_of_block(site, mine);
}

template <class T>
T __shfl_sync(unsigned, T mine, int lane, Site site = Site::here()) {
    return emulated::shuffle(site, mine, lane);
}
template <class T>
T __shfl_xor_sync(unsigned, T mine, int mask, Site site = Site::here()) {
    return emulated::shuffle(site, mine, int(emulated::lane()) ^ mask);
}
template <class T>
T __shfl_up_sync(unsigned, T mine, int by, Site site = Site::here()) {
    return emulated::shuffle(site, mine, int(emulated::lane()) - by);
}
template <class T>
T __shfl_down_sync(unsigned, T mine, int by, Site site = Site::here()) {
    return emulated::shuffle(site, mine, int(emulated::lane()) + by);
}
template <class T>
T __reduce_add_sync(unsigned, T mine, Site site = Site::here()) {
    return emulated::reduce(site, mine, [](T a, T b) { return T(a + b); });
}
template <class T>
T __reduce_min_sync(unsigned, T mine, Site site = Site::here()) {
    return emulated::reduce(site, mine, [](T a, T b) { return b < a ? b : a; });
}
template <class T>
T __reduce_max_sync(unsigned, T mine, Site site = Site::here()) {
    return emulated::reduce(site, mine, [](T a, T b) { return a < b ? b : a; });
}
inline unsigned __ballot_sync(unsigned, bool mine, Site site = Site::here()) {
    const unsigned bit = unsigned(mine) << emulated::lane();
    return emulated::reduce(site, bit, [](unsigned a, unsigned b) { return a | b; });
}
inline bool __any_sync(unsigned all, bool mine, Site site = Site::here()) {
    return __ballot_sync(all, mine, site) != 0;
}
inline bool __all_sync(unsigned all, bool mine, Site site = Site::here()) {
    return __ballot_sync(all, mine, site) == ~0u;
}

inline uint32_t __dp4a(uint32_t a, uint32_t b, uint32_t sum) {
    for (int k = 0; k < 32; k += 8) sum += (a >> k & 255) * (b >> k & 255);
    return sum;
}

// Two 16-bit integers a word; the second operand of the products has bytes.
template <class Combine>
inline uint32_t by_halves(Combine combine) {
    return (uint32_t(combine(0)) & 0xffffu) | uint32_t(combine(16)) << 16;
}
inline int half_at(uint32_t word, int bit) { return int16_t(word >> bit & 0xffffu); }
inline uint32_t __vadd2(uint32_t a, uint32_t b) {
    return by_halves([&](int bit) { return half_at(a, bit) + half_at(b, bit); });
}
inline uint32_t __vsub2(uint32_t a, uint32_t b) {
    return by_halves([&](int bit) { return half_at(a, bit) - half_at(b, bit); });
}
inline uint32_t __viaddmin_s16x2(uint32_t a, uint32_t b, uint32_t c) {
    return by_halves([&](int bit) {
        return std::min<int>(int16_t(half_at(a, bit) + half_at(b, bit)), half_at(c, bit));
    });
}
inline int __dp2a_lo(int a, int b, int sum) {
    return sum + half_at(a, 0) * int8_t(b) + half_at(a, 16) * int8_t(b >> 8);
}
inline int __dp2a_hi(int a, int b, int sum) { return __dp2a_lo(a, b >> 16, sum); }

// A clock that is so fast that kernels always find time passed.
inline long long clock64() {
    static long long cycles = 0;
    return cycles += 1ll << 32;
}
inline float __fdividef(float a, float b) { return a / b; }
// A GPU has an instruction for it, C++ a slow function that heeds NaN, which kernels do not pass.
#define fminf(a, b) std::min<float>(a, b)

#undef WITH_KERNEL
#define WITH_KERNEL(name, parameters)                                                           \
    static void name parameters;                                                                \
    EXPORT const char* name##_signature() { return host::signature(name); }                     \
    EXPORT bool name##_launch(void** values, unsigned grid, unsigned threads, uint64_t bytes) { \
        const host::Body body = [](void** values) { host::call(name, values); };                \
        return emulated::launch(body, values, grid, threads, bytes);                            \
    }                                                                                           \
    static void name parameters
