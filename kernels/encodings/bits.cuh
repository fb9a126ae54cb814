// Bits: item i is chosen if bit i is set. A gene holds 32 items, the first in the lowest bit;
// padding bits are zero. The decoder reads a row, and writes it to encode a changed solution;
// `fill` writes a random row.
// Random streams: the one passed to `fill`.
#pragma once

#include "encodings/solutions.cuh"

namespace encoding {

using Gene = uint32_t;

struct Shape {
    int32_t n;      // genes
    int32_t pitch;  // genes from one row to the next, a multiple of four
    int32_t items;  // bits
};

// Reads the solution directly from the row, and copies it only for changes.
class Decoder {
  public:
    __device__ Decoder(Scratch& scratch, Scratch&, const Shape& shape)
        : pitch_(shape.pitch), row_(nullptr), solution_(scratch.take<uint32_t>(shape.pitch)) {}

    __device__ Subset decode(const Gene* row) {
        __syncthreads();
        row_ = row;
        return {row};
    }

    // Return a new copy of the solution decoded last.
    __device__ uint32_t* solution() {
        __syncthreads();
        for (int i = threadIdx.x; i < pitch_; i += blockDim.x) solution_[i] = row_[i];
        __syncthreads();
        return solution_;
    }

    __device__ void encode(Gene* row) {
        __syncthreads();
        for (int i = threadIdx.x; i < pitch_; i += blockDim.x) row[i] = solution_[i];
        __syncthreads();
    }

  private:
    const int pitch_;
    const Gene* row_;
    uint32_t* const solution_;
};

// Draw a random row.
__device__ void fill(Gene* row, const Shape& shape, const draw::Place& place, uint32_t stream) {
    for (int i = threadIdx.x; i < shape.pitch; i += blockDim.x) {
        const uint4 word = place.words(stream, i / 4);
        const uint32_t words[4] = {word.x, word.y, word.z, word.w};
        const int left = shape.items - 32 * i;
        row[i] = left >= 32 ? words[i % 4] : left > 0 ? words[i % 4] & ((1u << left) - 1) : 0;
    }
}

}  // namespace encoding
