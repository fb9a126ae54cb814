// Access to single items of a genome. With 32-bit words as genes, each bit is an item; otherwise
// each gene is an item. No random numbers.
#pragma once

#include "core/core.cuh"

// Whether genes must stay between 0 and genes::highest(), as they are the solution itself.
#ifndef ENCODING_BOUNDED
#define ENCODING_BOUNDED 0
#endif

namespace genes {

__device__ constexpr bool is_packed(int32_t) { return false; }
__device__ constexpr bool is_packed(float) { return false; }
__device__ constexpr bool is_packed(double) { return false; }
__device__ constexpr bool is_packed(uint32_t) { return true; }

template <class Shape>
__device__ int items(const Shape& shape) {
    if constexpr (is_packed(encoding::Gene{})) {
        return shape.items;
    } else {
        return shape.n;
    }
}

template <class Gene>
__device__ Gene get(const Gene* row, int item) {
    return row[item];
}

__device__ uint32_t get(const uint32_t* row, int item) { return row[item / 32] >> (item % 32) & 1; }

template <class Gene>
__device__ void set(Gene* row, int item, Gene value) {
    row[item] = value;
}

__device__ void set(uint32_t* row, int item, uint32_t bit) {
    const uint32_t mask = 1u << (item % 32);
    row[item / 32] = bit ? row[item / 32] | mask : row[item / 32] & ~mask;
}

// Return the largest bounded gene: 1 for a coordinate, the next lower number for a key.
__device__ constexpr double highest(double) { return 1.0; }
__device__ constexpr float highest(float) { return 0x1.fffffep-1f; }

// Clip a number to the range of a bounded gene.
template <class Gene>
__device__ Gene clipped(Gene value) {
    const Gene most = highest(value), below = value < most ? value : most;
    return below > Gene(0) ? below : Gene(0);
}

// Set an item to a new random value.
template <class Gene, class Shape>
__device__ void redraw(Gene* row, const Shape& shape, int item, uint32_t word) {
#if GENES_ARE_CHOICES
    row[item] = draw::below(word, shape.sizes[item]);
#else
    row[item] = draw::fraction<Gene>(word);
#endif
}

template <class Shape>
__device__ void redraw(uint32_t* row, const Shape&, int item, uint32_t word) {
    set(row, item, word >> 31);
}

// Exchange the values of two items, unless one cannot have the other's value.
template <class Gene, class Shape>
__device__ void exchange(Gene* row, const Shape& shape, int one, int other) {
#if GENES_ARE_CHOICES
    if (!shape.fits(row, one, other)) return;
#endif
    const auto at_one = get(row, one), at_other = get(row, other);
    set(row, one, at_other);
    set(row, other, at_one);
}

// Return gene i of a child: items whose bit in `mask` is set come from `one`, the others from
// `other`.
template <class Gene>
__device__ Gene mixed(const Gene* one, const Gene* other, const uint32_t* mask, int i) {
    return mask[i / 32] >> (i % 32) & 1 ? one[i] : other[i];
}

__device__ uint32_t mixed(const uint32_t* one, const uint32_t* other, const uint32_t* mask, int i) {
    return (one[i] & mask[i]) | (other[i] & ~mask[i]);
}

}  // namespace genes
