// Choices: gene i is the value of item i, from 0 to sizes[i] - 1. Declares the genes and the return
// type of the decoder of direct.cuh; `fill` writes a random row.
// Random streams: the one passed to `fill`.
#pragma once

#include "core/core.cuh"

namespace encoding {

using Gene = int32_t;

struct Shape {
    int32_t n;               // genes
    int32_t pitch;           // genes from one row to the next, a multiple of four
    int32_t values;          // maximum number of values of an item
    const int32_t* sizes;    // [n]: the number of values of each item
    const int32_t* members;  // [n]: the items by group
    const int32_t* first;    // [n]: start of the members of the group of each item
    const int32_t* count;    // [n]: number of members
    const int32_t* most;  // [values]: maximum number of items with each value, with CHOICES_LIMITED

    // Return whether two items may exchange their values.
    __device__ bool fits(const Gene* row, int one, int other) const {
        return row[one] < sizes[other] && row[other] < sizes[one];
    }

    // Return a random item of the same group, possibly the item itself.
    __device__ int mate(int item, uint32_t word) const {
        return members[first[item] + draw::below(word, count[item])];
    }
};

struct Choices {
    const int32_t* value;

    __device__ int operator[](int item) const { return value[item]; }
};

using Solution = Choices;

}  // namespace encoding

#define ENCODING_HAS_SHAPE
#include "encodings/direct.cuh"

namespace encoding {

// Draw a random row.
__device__ void fill(Gene* row, const Shape& shape, const draw::Place& place, uint32_t stream) {
    for (int i = threadIdx.x; i < shape.pitch; i += blockDim.x) {
        const uint4 word = place.words(stream, i / 4);
        const uint32_t words[4] = {word.x, word.y, word.z, word.w};
        row[i] = i < shape.n ? draw::below(words[i % 4], shape.sizes[i]) : 0;
    }
}

}  // namespace encoding
