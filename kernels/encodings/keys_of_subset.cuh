// Random keys for subsets: an item is chosen if its key is at least 0.5. The decoder reads a row,
// and writes it to encode a changed solution; rows_of_keys.cuh writes random rows.
// Random streams: the one passed to `fill`.
#pragma once

#include "encodings/solutions.cuh"

namespace encoding {

using Gene = float;

struct Shape {
    int32_t n;      // genes
    int32_t pitch;  // genes from one row to the next, a multiple of four
};

__device__ bool is_chosen(float key) { return key >= 0.5f; }

// Converts the keys to words of bits in shared memory.
class Decoder {
  public:
    __device__ Decoder(Scratch& scratch, Scratch&, const Shape& shape)
        : n_(shape.n), word_(scratch.take<uint32_t>((shape.n + 31) / 32)) {}

    __device__ void begin() {}
    __device__ void count(float) {}

    __device__ Subset finish(const float* keys) {
        __syncthreads();
        for (int w = threadIdx.x; 32 * w < n_; w += blockDim.x) {
            uint32_t word = 0;
            for (int i = 32 * w; i < min(n_, 32 * w + 32); ++i) {
                word |= uint32_t(is_chosen(keys[i])) << (i % 32);
            }
            word_[w] = word;
        }
        __syncthreads();
        return {word_};
    }

    __device__ Subset decode(const float* keys) { return finish(keys); }

    // Return the solution decoded last; it may be changed.
    __device__ uint32_t* solution() { return word_; }

    // Mirror the keys of the items whose selection has changed.
    __device__ void encode(float* keys) {
        __syncthreads();
        const Subset chosen{word_};
        for (int i = threadIdx.x; i < n_; i += blockDim.x) {
            if (is_chosen(keys[i]) == chosen[i]) continue;
            const float mirrored = 1.0f - keys[i];
            // A key of exactly 0.5 is its own mirror image.
            keys[i] = is_chosen(mirrored) == chosen[i] ? mirrored : 0.25f;
        }
        __syncthreads();
    }

  private:
    const int n_;
    uint32_t* const word_;
};

}  // namespace encoding

#include "encodings/rows_of_keys.cuh"
