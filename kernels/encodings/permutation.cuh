// A permutation: the genes are the solution itself. The decoder reads a row, and writes it to
// encode a changed solution; `fill` writes a random row.
// Random streams: the one that the caller of `fill` names.
#pragma once

#include "core/core.cuh"

namespace encoding {

using Gene = int32_t;

struct Shape {
    int32_t n;      // genes
    int32_t pitch;  // genes from one row to the next, a multiple of four
};

// A solution in block memory.
struct Order {
    const int32_t* item;

    __device__ int operator[](int position) const { return item[position]; }
    // Return four entries from a multiple of four; those past the end are undefined.
    __device__ uint4 four(int position) const {
        return *reinterpret_cast<const uint4*>(item + position);
    }
};

// Reads the solution directly from the row, and copies it only to change it.
class Decoder {
  public:
    __device__ Decoder(Scratch& scratch, Scratch&, const Shape& shape)
        : n_(shape.n), row_(nullptr), solution_(scratch.take<int32_t>(shape.pitch)) {}

    __device__ Order decode(const Gene* row) {
        __syncthreads();
        row_ = row;
        return {row};
    }

    // Return a new copy of the solution decoded last.
    __device__ int32_t* solution() {
        __syncthreads();
        for (int i = threadIdx.x; i < n_; i += blockDim.x) solution_[i] = row_[i];
        __syncthreads();
        return solution_;
    }

    __device__ void encode(Gene* row) {
        __syncthreads();
        for (int i = threadIdx.x; i < n_; i += blockDim.x) row[i] = solution_[i];
        __syncthreads();
    }

  private:
    const int n_;
    const Gene* row_;
    int32_t* const solution_;
};

// Draw a random row: from the last gene down, swap each with one at the same or an earlier place.
__device__ void fill(Gene* row, const Shape& shape, const draw::Place& place, uint32_t stream) {
    for (int i = threadIdx.x; i < shape.pitch; i += blockDim.x) row[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = shape.n - 1; i > 0; --i) {
            const uint4 word = place.words(stream, i / 4);
            const uint32_t words[4] = {word.x, word.y, word.z, word.w};
            const int other = draw::below(words[i % 4], i + 1);
            const Gene gene = row[i];
            row[i] = row[other];
            row[other] = gene;
        }
    }
    __syncthreads();
}

}  // namespace encoding
