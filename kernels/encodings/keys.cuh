// Random keys: gene i, a multiple of 2^-24 in [0, 1), says where thing i stands in the order.
// Equal keys are ordered by index. Sorting is by buckets in the block's arena: count, scan, scatter,
// and finish each bucket.
#pragma once

#include "core/core.cuh"

namespace encoding {

using Gene = float;

struct Shape {
    int32_t n;           // genes
    int32_t pitch;       // genes from one row to the next, a multiple of four
    int32_t buckets;     // at least 2^index_bits / 256, so that an item keeps all of a key's 24 bits
    int32_t index_bits;  // of the largest index
};

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

    // `keys` is the row that was counted; its values are visible to the block after begin's barrier.
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
        return uint64_t(uint32_t(key * 16777216.0f) << 8) * uint32_t(shape_.buckets);
    }

    __device__ void place(float key, int index, uint32_t mask) {
        const uint64_t where = bits(key);
        item_[atomicAdd(&bucket_[where >> 32], 1)] = (uint32_t(where) & ~mask) | index;
    }

    const Shape shape_;
    uint32_t* const item_;
    uint32_t* const bucket_;
};

}  // namespace encoding
