// Writes rows of keys, and counts the keys for the decoder that sorts them.
// Random streams: the one that the caller of `fill` names.
#pragma once

#include "core/core.cuh"

namespace encoding {

// Store four keys, and count them for the sort that follows.
__device__ void put(Decoder& decoder, float* row, int quad, int n, float4 key) {
    reinterpret_cast<float4*>(row)[quad] = key;
    decoder.count(key.x);
    if (4 * quad + 1 < n) decoder.count(key.y);
    if (4 * quad + 2 < n) decoder.count(key.z);
    if (4 * quad + 3 < n) decoder.count(key.w);
}

// Count the keys of an existing row.
__device__ void count(Decoder& decoder, const float* row, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) decoder.count(row[i]);
}

// Draw a random row.
__device__ void fill(float* row, const Shape& shape, const draw::Place& place, uint32_t stream) {
    for (int i = threadIdx.x; i < shape.pitch; i += blockDim.x) {
        const uint4 word = place.words(stream, i / 4);
        const uint32_t words[4] = {word.x, word.y, word.z, word.w};
        row[i] = draw::uniform(words[i % 4]);
    }
}

// The same, and count the keys for the sort that follows.
__device__ void fill(Decoder& decoder, float* row, const Shape& shape, const draw::Place& place,
                     uint32_t stream) {
    for (int quad = threadIdx.x; quad < shape.pitch / 4; quad += blockDim.x) {
        const uint4 word = place.words(stream, quad);
        const float4 key = {draw::uniform(word.x), draw::uniform(word.y), draw::uniform(word.z),
                            draw::uniform(word.w)};
        put(decoder, row, quad, shape.n, key);
    }
}

}  // namespace encoding
