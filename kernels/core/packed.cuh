// Sums of priced overloads: two 16-bit integers a word, and the same for several columns at once. A
// word of a column is negative weights; added to a word of what is left, what is below zero is an
// overload. Returns sums, which have the same bits on every device. No random numbers.
#pragma once

#include "core/compiler.cuh"

#if !defined(__CUDACC__) && defined(__AVX512BW__)
#include <immintrin.h>
#endif

namespace packed {

__device__ int low(uint32_t word) { return int16_t(word & 0xffffu); }
__device__ int high(uint32_t word) { return int16_t(word >> 16); }
__device__ uint32_t pair(int low, int high) {
    return (uint32_t(low) & 0xffffu) | uint32_t(high) << 16;
}

#ifdef __CUDACC__
// Number of neighbouring columns that a thread processes at once.
constexpr int WIDE = 1;

__device__ uint32_t sum(uint32_t one, uint32_t other) { return __vadd2(one, other); }
__device__ uint32_t difference(uint32_t one, uint32_t other) { return __vsub2(one, other); }
#else
constexpr int WIDE = 16;

__device__ uint32_t sum(uint32_t one, uint32_t other) {
    return ((one + other) & 0xffffu) | ((one & 0xffff0000u) + (other & 0xffff0000u));
}
__device__ uint32_t difference(uint32_t one, uint32_t other) {
    return ((one - other) & 0xffffu) | ((one & 0xffff0000u) - (other & 0xffff0000u));
}
#endif

struct alignas(4 * WIDE) Sums {
    int32_t item[WIDE];
};

// Call body(c) for each of these columns.
template <class Body>
__device__ void along(Body body) {
#ifndef __CUDACC__
#pragma GCC unroll 1  // GCC vectorises a loop, but not unrolled bodies
#endif
    for (int c = 0; c < WIDE; ++c) body(c);
}

// The prices of 2 * PAIRS constraints, from bytes that are negative prices, four a word.
template <int PAIRS>
class Prices {
  public:
    __device__ explicit Prices(const uint32_t* bytes) {
#ifdef __CUDACC__
#pragma unroll
        for (int k = 0; k < WORDS; ++k) word_[k] = bytes[k];
#else
        for (int p = 0; p < PAIRS; ++p) {
            const uint32_t two = bytes[p / 2] >> (p % 2 ? 16 : 0);
            word_[p] = pair(int8_t(two & 0xffu), int8_t(two >> 8 & 0xffu));
        }
#endif
    }

    // Add the priced overloads of pairs FIRST to LAST - 1 for the columns that begin at `column`;
    // a pair has `stride` columns.
    template <int FIRST, int LAST>
    __device__ void add(Sums& sums, const uint32_t (&left)[PAIRS], const uint32_t* column,
                        int stride) const {
#ifdef __CUDACC__
        int total = sums.item[0];
#pragma unroll
        for (int p = FIRST; p < LAST; ++p) {
            const int over = int(__viaddmin_s16x2(left[p], column[p * stride], 0u));
            const int four = int(word_[p / 2]);
            total = p % 2 ? __dp2a_hi(over, four, total) : __dp2a_lo(over, four, total);
        }
        sums.item[0] = total;
#elif defined(__AVX512BW__)
        const __m512i zero = _mm512_setzero_si512();
        __m512i total = _mm512_load_si512(sums.item), other = zero;
        const auto over = [&](int p) {
            const __m512i all = _mm512_set1_epi32(int(left[p]));
            return _mm512_min_epi16(_mm512_add_epi16(all, _mm512_loadu_si512(column + p * stride)),
                                    zero);
        };
        const auto added = [&](__m512i before, int p) {
            const __m512i price = _mm512_set1_epi32(int(word_[p]));
#ifdef __AVX512VNNI__
            return _mm512_dpwssd_epi32(before, over(p), price);
#else
            return _mm512_add_epi32(before, _mm512_madd_epi16(over(p), price));
#endif
        };
        for (int p = FIRST; p + 1 < LAST; p += 2) {
            total = added(total, p), other = added(other, p + 1);
        }
        if ((LAST - FIRST) % 2) total = added(total, LAST - 1);
        _mm512_store_si512(sums.item, _mm512_add_epi32(total, other));
#else
        for (int p = FIRST; p < LAST; ++p) {
            const int one = low(word_[p]), two = high(word_[p]);
            const uint32_t* const row = column + p * stride;
            for (int c = 0; c < WIDE; ++c) {
                const uint32_t both = sum(left[p], row[c]);
                const int first = low(both), second = high(both);
                sums.item[c] += (first < 0 ? first : 0) * one + (second < 0 ? second : 0) * two;
            }
        }
#endif
    }

    // Return the priced overload of a pair of numbers.
    __device__ int of(int p, uint32_t left) const {
#ifdef __CUDACC__
        const uint32_t two = word_[p / 2] >> (p % 2 ? 16 : 0);
        const int one = int8_t(two & 0xffu), other = int8_t(two >> 8 & 0xffu);
#else
        const int one = low(word_[p]), other = high(word_[p]);
#endif
        const int first = low(left), second = high(left);
        return (first < 0 ? first : 0) * one + (second < 0 ? second : 0) * other;
    }

  private:
#ifdef __CUDACC__
    static constexpr int WORDS = (PAIRS + 1) / 2;
#else
    static constexpr int WORDS = PAIRS;
#endif
    uint32_t word_[WORDS];
};

}  // namespace packed
