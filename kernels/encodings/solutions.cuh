// Solutions in memory, as decoders return them. No random numbers.
#pragma once

#include "core/core.cuh"

namespace encoding {

struct Order {
    const int32_t* item;

    __device__ int operator[](int position) const { return item[position]; }
    // Return four entries, starting at a multiple of four; those past the end are undefined.
    __device__ uint4 four(int position) const {
        return *reinterpret_cast<const uint4*>(item + position);
    }
};

// The chosen items: 1 or 0 for each.
struct Subset {
    const uint32_t* word;

    __device__ int operator[](int item) const { return word[item / 32] >> (item % 32) & 1; }
};

}  // namespace encoding
