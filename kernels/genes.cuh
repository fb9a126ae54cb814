// Reads and writes the single items of a genome. With 32-bit words as genes, each bit is an item;
// otherwise each gene is an item. No random numbers.
#pragma once

#include "core/core.cuh"

namespace genes {

__device__ constexpr bool is_packed(int32_t) { return false; }
__device__ constexpr bool is_packed(float) { return false; }
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

// Set an item to a new random value.
__device__ void redraw(float* row, int item, uint32_t word) { row[item] = draw::uniform(word); }
__device__ void redraw(uint32_t* row, int item, uint32_t word) { set(row, item, word >> 31); }

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
