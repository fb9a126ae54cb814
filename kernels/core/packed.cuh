// Sums of priced overloads in packed arithmetic: two 16-bit integers per word, for several columns
// at once. Words of a column are negative weights, which are added to words of the remaining
// capacities; negative sums are overloads. A column also has a gain. Returns sums, which
// are bit-identical on all devices. No random numbers.
#pragma once

#include "core/core.cuh"

#if !defined(__CUDACC__) && (defined(__AVX512BW__) || defined(__AVX2__))
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

// Call body(c) for each column of a thread.
template <class Body>
__device__ void along(Body body) {
#ifndef __CUDACC__
#pragma GCC unroll 1  // GCC vectorises a loop but not unrolled bodies
#endif
    for (int c = 0; c < WIDE; ++c) body(c);
}

#ifdef __CUDACC__

// The words of a column and its gain, in registers.
template <int PAIRS>
struct Column {
    static constexpr int WORDS = (PAIRS + 1 + 3) / 4 * 4;

    uint32_t word[WORDS];

    __device__ int gain(int) const { return int(word[PAIRS]); }
};

// The columns of some places, one after another, so that a thread reads four words at once. Their
// stride is an odd number of quads, which avoids bank conflicts between threads.
template <int PAIRS>
class Columns {
  public:
    __device__ Columns(Scratch& scratch, int places)
        : places_((places + block::WARP - 1) / block::WARP * block::WARP),
          memory_(scratch.take<uint4>(QUADS * places_)) {}

    // Number of readable places, a multiple of those that a warp reads at once.
    __device__ int places() const { return places_; }
    __device__ void set(int place, int p, uint32_t word) { at(place)[p] = word; }
    __device__ void set_gain(int place, int gain) { at(place)[PAIRS] = uint32_t(gain); }

    // Return the column of this thread. Threads receive consecutive columns from `first`, a
    // multiple of the number of threads; those beyond the last place receive the last column.
    __device__ Column<PAIRS> from(int first) const {
        uint32_t place = first + threadIdx.x;
        if (ISLANDS_THREADS > block::WARP) place = min(place, places_ - 1);
        const uint4* const quads = memory_ + place * QUADS;
        Column<PAIRS> column;
#pragma unroll
        for (int q = 0; q < Column<PAIRS>::WORDS / 4; ++q) {
            const uint4 quad = quads[q];
            column.word[4 * q] = quad.x, column.word[4 * q + 1] = quad.y;
            column.word[4 * q + 2] = quad.z, column.word[4 * q + 3] = quad.w;
        }
        return column;
    }

  private:
    static constexpr uint32_t QUADS = Column<PAIRS>::WORDS / 4 | 1;

    __device__ uint32_t* at(int place) const {
        return reinterpret_cast<uint32_t*>(memory_ + place * QUADS);
    }

    const uint32_t places_;
    uint4* const memory_;
};

#else

// Neighbouring columns, starting at a place.
template <int PAIRS>
struct Column {
    const uint32_t* word;
    const int32_t* gains;
    int stride;

    __device__ int gain(int c) const { return gains[c]; }
};

// The columns of some places, pair by pair.
template <int PAIRS>
class Columns {
  public:
    __device__ Columns(Scratch& scratch, int places)
        : places_(places),
          gain_(scratch.take<int32_t>(places)),
          word_(aligned(scratch.take<uint32_t>(int64_t(PAIRS) * places + SPARE))) {}

    // Number of readable places, a multiple of the columns read at once.
    __device__ int places() const { return places_; }
    __device__ void set(int place, int p, uint32_t word) { word_[p * places_ + place] = word; }
    __device__ void set_gain(int place, int gain) { gain_[place] = gain; }
    // Return the columns of a thread, starting at `first`.
    __device__ Column<PAIRS> from(int first) const {
        const int place = min(first + WIDE * int(threadIdx.x), places_ - WIDE);
        return {word_ + place, gain_ + place, places_};
    }

  private:
    static constexpr int SPARE = WIDE - 4;  // aligns the words for the widest access

    __device__ static uint32_t* aligned(uint32_t* memory) {
        constexpr uint64_t BYTES = 4 * WIDE;
        return reinterpret_cast<uint32_t*>((reinterpret_cast<uint64_t>(memory) + BYTES - 1) /
                                           BYTES * BYTES);
    }

    const int places_;
    int32_t* const gain_;
    uint32_t* const word_;
};

#endif

// The prices of 2 * PAIRS constraints, from bytes with negative prices, four per word.
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

    // Add the priced overloads of pairs FIRST to LAST - 1 for neighbouring columns.
    template <int FIRST, int LAST>
    __device__ void add(Sums& sums, const uint32_t (&left)[PAIRS],
                        const Column<PAIRS>& column) const {
#ifdef __CUDACC__
        int total = sums.item[0], other = 0;  // two independent accumulators
#pragma unroll
        for (int p = FIRST; p < LAST; ++p) {
            const int over = int(__viaddmin_s16x2(left[p], column.word[p], 0u));
            const int four = int(word_[p / 2]);
            if (p % 2) {
                other = __dp2a_hi(over, four, other);
            } else {
                total = __dp2a_lo(over, four, total);
            }
        }
        sums.item[0] = total + other;
#elif defined(__AVX512BW__)
        const __m512i zero = _mm512_setzero_si512();
        __m512i total = _mm512_load_si512(sums.item), other = zero;
        const auto over = [&](int p) {
            const __m512i all = _mm512_set1_epi32(int(left[p]));
            const __m512i words = _mm512_loadu_si512(column.word + p * column.stride);
            return _mm512_min_epi16(_mm512_add_epi16(all, words), zero);
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
#elif defined(__AVX2__)
        constexpr int LANES = 8;
        for (int first = 0; first < WIDE; first += LANES) {
            auto* const item = reinterpret_cast<__m256i*>(sums.item + first);
            __m256i total = _mm256_load_si256(item);
            for (int p = FIRST; p < LAST; ++p) {
                const uint32_t* const words = column.word + p * column.stride + first;
                const __m256i all = _mm256_set1_epi32(int(left[p]));
                const __m256i price = _mm256_set1_epi32(int(word_[p]));
                __m256i over = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
                over = _mm256_min_epi16(_mm256_add_epi16(all, over), _mm256_setzero_si256());
                total = _mm256_add_epi32(total, _mm256_madd_epi16(over, price));
            }
            _mm256_store_si256(item, total);
        }
#else
        for (int p = FIRST; p < LAST; ++p) {
            const int one = low(word_[p]), two = high(word_[p]);
            const uint32_t* const row = column.word + p * column.stride;
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
