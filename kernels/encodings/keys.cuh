// Random keys: gene i, a multiple of 2^-24 in [0, 1), says where thing i stands in the order.
// Equal keys are ordered by index. KEYS_DECODING says who puts the things in order.
#pragma once

#include "core/core.cuh"

#define KEYS_SORTED 0  // the block, by buckets: count, scan, scatter, finish each bucket
#define KEYS_PLAIN 1   // one thread for itself, from bare keys
#define KEYS_HOST 2    // the host, after the kernel

namespace encoding {

using Gene = float;
constexpr bool ON_HOST = KEYS_DECODING == KEYS_HOST;

struct Shape {
    int32_t n;        // genes
    int32_t pitch;    // genes from one row to the next, a multiple of four
    int32_t buckets;  // at least 2^index_bits / 256, so that an item keeps all of a key's 24 bits
    int32_t index_bits;  // of the largest index
};

__device__ uint32_t level(float key) { return uint32_t(key * 16777216.0f); }

#if KEYS_DECODING == KEYS_SORTED

// The things in the order of their keys.
struct Order {
    const uint32_t* item;
    uint32_t mask;

    __device__ int operator[](int position) const { return item[position] & mask; }
    // Four positions from a multiple of four on; those past the end are meaningless.
    __device__ uint4 four(int position) const {
        const uint4 items = *reinterpret_cast<const uint4*>(item + position);
        return {items.x & mask, items.y & mask, items.z & mask, items.w & mask};
    }
};

// Turns the keys that it is shown into an order: begin(), then count() of every key, then finish().
class Decoder {
  public:
    __device__ Decoder(const Arena& arena, const Shape& shape)
        : shape_(shape),
          item_(reinterpret_cast<uint32_t*>(arena.large())),
          bucket_(reinterpret_cast<uint32_t*>(arena.small())) {}

    __device__ void begin() {
        __syncthreads();
        for (int i = threadIdx.x; i < shape_.buckets; i += blockDim.x) bucket_[i] = 0;
        __syncthreads();
    }

    __device__ void count(float key) { atomicAdd(&bucket_[bits(key) >> 32], 1); }

    // `keys` is the row that was counted, by the same threads or before begin().
    __device__ Order finish(const float* keys) {
        const uint32_t mask = (1u << shape_.index_bits) - 1;
        __syncthreads();
        block::scan(bucket_, shape_.buckets);
        const float4* quads = reinterpret_cast<const float4*>(keys);
        for (int i = threadIdx.x; i < shape_.pitch / 4; i += blockDim.x) {
            const float4 key = quads[i];
            place(key.x, 4 * i, mask);
            if (4 * i + 1 < shape_.n) place(key.y, 4 * i + 1, mask);
            if (4 * i + 2 < shape_.n) place(key.z, 4 * i + 2, mask);
            if (4 * i + 3 < shape_.n) place(key.w, 4 * i + 3, mask);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < shape_.buckets; i += blockDim.x) {
            const uint32_t first = i > 0 ? bucket_[i - 1] : 0;
            block::sort_few(item_ + first, bucket_[i] - first);
        }
        __syncthreads();
        return {item_, mask};
    }

  private:
    // The upper half is the key's bucket, the lower half where in the bucket it lies.
    __device__ uint64_t bits(float key) const {
        return uint64_t(level(key) << 8) * uint32_t(shape_.buckets);
    }

    __device__ void place(float key, int index, uint32_t mask) {
        const uint64_t where = bits(key);
        item_[atomicAdd(&bucket_[where >> 32], 1)] = (uint32_t(where) & ~mask) | index;
    }

    const Shape shape_;
    uint32_t* const item_;
    uint32_t* const bucket_;
};

#else

// The things as the lower halves of sorted (key, index) words.
struct Order {
    const uint64_t* word;

    __device__ int operator[](int position) const { return int(word[position]); }
    __device__ uint4 four(int i) const {
        return {uint32_t(word[i]), uint32_t(word[i + 1]), uint32_t(word[i + 2]),
                uint32_t(word[i + 3])};
    }
};

class Decoder {
  public:
    __device__ Decoder(const Arena& arena, const Shape& shape)
        : n_(shape.n), word_(reinterpret_cast<uint64_t*>(arena.large())) {}

    __device__ void begin() {}
    __device__ void count(float) {}

    __device__ Order finish(const float* keys) {
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int i = 0; i < n_; ++i) word_[i] = uint64_t(level(keys[i])) << 32 | uint32_t(i);
            block::sort_few(word_, n_);
        }
        __syncthreads();
        return {word_};
    }

  private:
    const int n_;
    uint64_t* const word_;
};

#endif

// Stores four keys, and counts them for the sort that follows.
__device__ void put(Decoder& decoder, float* row, int quad, int n, float4 key) {
    reinterpret_cast<float4*>(row)[quad] = key;
    decoder.count(key.x);
    if (4 * quad + 1 < n) decoder.count(key.y);
    if (4 * quad + 2 < n) decoder.count(key.z);
    if (4 * quad + 3 < n) decoder.count(key.w);
}

// Counts the keys of a row that is there already.
__device__ void count(Decoder& decoder, const float* row, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) decoder.count(row[i]);
}

// Draws a row afresh.
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
