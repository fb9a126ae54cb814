// Random keys: items are sorted by their keys, ties by index. KEYS_DECODING selects how a block
// sorts. With ENCODING_ASSIGNS, entry i of a solution is the place of item i; otherwise it is the
// item at place i. The decoder reads a row and, except for KEYS_SORTED, writes it to encode a
// changed solution. rows_of_keys.cuh writes random rows.
// Random streams: the one passed to `fill`.
#pragma once

#include "encodings/solutions.cuh"

#define KEYS_SORTED 0  // by the block, in buckets; keys are multiples of 2^-24 in [0, 1)
#define KEYS_PLAIN 1   // by one thread; keys are in [0, 1)
#define KEYS_FREE 2    // by the block, comparing keys; any keys

namespace encoding {

using Gene = float;

struct Shape {
    int32_t n;        // genes
    int32_t pitch;    // genes from one row to the next, a multiple of four
    int32_t buckets;  // at least 2^index_bits / 256, so that an item keeps all 24 bits of its key
    int32_t index_bits;  // bits of the largest index
};

__device__ uint32_t level(float key) { return uint32_t(key * 16777216.0f); }

#if KEYS_DECODING == KEYS_SORTED

// The items sorted by key.
struct Sequence {
    const uint32_t* item;
    uint32_t mask;

    __device__ int operator[](int position) const { return item[position] & mask; }
    // Return four items, starting at a multiple of four; those past the end are undefined.
    __device__ uint4 four(int position) const {
        const uint4 items = *reinterpret_cast<const uint4*>(item + position);
        return {items.x & mask, items.y & mask, items.z & mask, items.w & mask};
    }
};

// Sorts the items of a row of keys: call begin(), then count() for every key, then finish().
class Decoder {
  public:
    __device__ Decoder(Scratch& scratch, Scratch& small, const Shape& shape)
        : shape_(shape),
          item_(scratch.take<uint32_t>(shape.pitch)),
#if ENCODING_ASSIGNS
          place_(scratch.take<int32_t>(shape.pitch)),
#endif
          bucket_(small.take<uint32_t>(shape.buckets)) {
    }

    __device__ void begin() {
        __syncthreads();
        for (int i = threadIdx.x; i < shape_.buckets; i += blockDim.x) bucket_[i] = 0;
        __syncthreads();
    }

    __device__ void count(float key) { atomicAdd(&bucket_[bits(key) >> 32], 1); }

    // `keys` is the counted row, written by the same threads or before begin().
    __device__ auto finish(const float* keys) {
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
#if ENCODING_ASSIGNS
        for (int i = threadIdx.x; i < shape_.n; i += blockDim.x) place_[item_[i] & mask] = i;
        __syncthreads();
        return Order{place_};
#else
        return Sequence{item_, mask};
#endif
    }

  private:
    // The upper half is the bucket of a key, the lower half its position in the bucket.
    __device__ uint64_t bits(float key) const {
        return uint64_t(level(key) << 8) * uint32_t(shape_.buckets);
    }

    __device__ void place(float key, int index, uint32_t mask) {
        const uint64_t where = bits(key);
        item_[atomicAdd(&bucket_[where >> 32], 1)] = (uint32_t(where) & ~mask) | index;
    }

    const Shape shape_;
    uint32_t* const item_;
#if ENCODING_ASSIGNS
    int32_t* const place_;
#endif
    uint32_t* const bucket_;
};

#else

// Sorts words that combine a key and its index, or finds the rank of each by counting. The solution
// may be changed and encoded.
class Decoder {
  public:
    __device__ Decoder(Scratch& scratch, Scratch&, const Shape& shape)
        : n_(shape.n),
          word_(scratch.take<uint64_t>(block::power_of_two(shape.n))),
          solution_(scratch.take<int32_t>(shape.pitch)) {}

    __device__ void begin() {}
    __device__ void count(float) {}

    __device__ Order finish(const float* keys) {
        __syncthreads();
#if KEYS_DECODING == KEYS_FREE
        for (int i = threadIdx.x; i < n_; i += blockDim.x) word_[i] = word_of(keys[i], i);
        __syncthreads();
        if (n_ <= MOST_COUNTED) {
            for (int i = threadIdx.x; i < n_; i += blockDim.x) write(i, place_of(word_[i]));
            __syncthreads();
            return {solution_};
        }
        block::sort(word_, n_);
#else
        if (threadIdx.x == 0) {
            for (int i = 0; i < n_; ++i) word_[i] = word_of(keys[i], i);
            block::sort_few(word_, n_);
        }
        __syncthreads();
#endif
        for (int place = threadIdx.x; place < n_; place += blockDim.x) {
            write(int(uint32_t(word_[place])), place);
        }
        __syncthreads();
        return {solution_};
    }

    __device__ Order decode(const float* keys) { return finish(keys); }

    __device__ int32_t* solution() { return solution_; }

    // Reorder the keys decoded last so that they represent the changed solution.
    __device__ void encode(float* keys) {
        __syncthreads();
        if (KEYS_DECODING == KEYS_FREE && n_ <= MOST_COUNTED) block::sort(word_, n_);
        for (int i = threadIdx.x; i < n_; i += blockDim.x) {
#if ENCODING_ASSIGNS
            keys[i] = distinct_key(solution_[i]);
#else
            keys[solution_[i]] = distinct_key(i);
#endif
        }
        __syncthreads();
    }

  private:
    static constexpr int MOST_COUNTED = 128;  // above this, sorting is faster

    __device__ void write(int item, int place) {
#if ENCODING_ASSIGNS
        solution_[item] = place;
#else
        solution_[place] = item;
#endif
    }

    __device__ int place_of(uint64_t word) const {
        int before = 0;
        for (int i = 0; i < n_; ++i) before += word_[i] < word;
        return before;
    }

    // Return the key for a place. Equal keys would be ordered by index, which may contradict the
    // solution, so each key is raised at least to the next float after its predecessor.
    __device__ float distinct_key(int place) const {
        const uint32_t own = uint32_t(word_[place] >> 32);
        uint32_t raised = own;
        for (int before = place - 1; before >= 0; --before) {
            const uint32_t other = uint32_t(word_[before] >> 32);
            if (own - other >= uint32_t(place)) break;  // too far away to reach in steps of one
            const uint32_t reached = other + uint32_t(place - before);
            if (reached > raised) raised = reached;
        }
        return __uint_as_float(raised >> 31 ? raised & 0x7fffffffu : 0u - raised);
    }

    // Words sort by key, then by index. Both zeros have the same upper half, and the upper halves
    // of neighbouring floats differ by one.
    __device__ static uint64_t word_of(float key, int index) {
        const uint32_t raw = __float_as_uint(key);
        return uint64_t(raw >> 31 ? 0u - raw : raw | 0x80000000u) << 32 | uint32_t(index);
    }

    const int n_;
    uint64_t* const word_;
    int32_t* const solution_;
};

#endif

}  // namespace encoding

#include "encodings/rows_of_keys.cuh"
