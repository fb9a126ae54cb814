// Writes rows of keys or coordinates, and counts them for a decoder that sorts keys.
// Random streams: the one passed to `fill`.
#pragma once

#include "core/core.cuh"

namespace encoding {

// Store four keys, and count them for the sort that follows.
__device__ void put(Decoder& decoder, Gene* row, int quad, int n, const Quad<Gene>& key) {
    reinterpret_cast<Quad<Gene>*>(row)[quad] = key;
    decoder.count(key.x);
    if (4 * quad + 1 < n) decoder.count(key.y);
    if (4 * quad + 2 < n) decoder.count(key.z);
    if (4 * quad + 3 < n) decoder.count(key.w);
}

// Count the keys of an existing row.
__device__ void count(Decoder& decoder, const Gene* row, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) decoder.count(row[i]);
}

// Draw a random row.
__device__ void fill(Gene* row, const Shape& shape, const draw::Place& place, uint32_t stream) {
    for (int i = threadIdx.x; i < shape.pitch; i += blockDim.x) {
        const uint4 word = place.words(stream, i / 4);
        const uint32_t words[4] = {word.x, word.y, word.z, word.w};
        row[i] = draw::fraction<Gene>(words[i % 4]);
    }
}

// Draw a random row, and count its keys for the sort that follows.
__device__ void fill(Decoder& decoder, Gene* row, const Shape& shape, const draw::Place& place,
                     uint32_t stream) {
    for (int quad = threadIdx.x; quad < shape.pitch / 4; quad += blockDim.x) {
        const uint4 word = place.words(stream, quad);
        const Quad<Gene> key = {draw::fraction<Gene>(word.x), draw::fraction<Gene>(word.y),
                                draw::fraction<Gene>(word.z), draw::fraction<Gene>(word.w)};
        put(decoder, row, quad, shape.n, key);
    }
}

}  // namespace encoding
