// Genomes that are the solution itself, for encodings that declare `Gene` and a type `Solution`,
// constructed from the address of a row. The decoder reads a row, and writes it to encode a changed
// solution. No random numbers.
#pragma once

#include "genes.cuh"

namespace encoding {

#ifndef ENCODING_HAS_SHAPE
struct Shape {
    int32_t n;      // genes
    int32_t pitch;  // genes from one row to the next, a multiple of four
};
#endif

// Reads the solution directly from the row, and copies it only for changes.
class Decoder {
  public:
    __device__ Decoder(Scratch& scratch, Scratch&, const Shape& shape)
        : n_(shape.n), row_(nullptr), solution_(scratch.take<Gene>(shape.pitch)) {}

    __device__ void begin() {}
    __device__ void count(Gene) {}

    __device__ Solution finish(const Gene* row) {
        __syncthreads();
        row_ = row;
        return {row};
    }

    __device__ Solution decode(const Gene* row) { return finish(row); }

    // Return a new copy of the solution decoded last.
    __device__ Gene* solution() {
        __syncthreads();
        for (int i = threadIdx.x; i < n_; i += blockDim.x) solution_[i] = row_[i];
        __syncthreads();
        return solution_;
    }

    __device__ void encode(Gene* row) {
        __syncthreads();
        for (int i = threadIdx.x; i < n_; i += blockDim.x) {
#if ENCODING_BOUNDED
            row[i] = genes::clipped(solution_[i]);
#else
            row[i] = solution_[i];
#endif
        }
        __syncthreads();
    }

  private:
    const int n_;
    const Gene* row_;
    Gene* const solution_;
};

}  // namespace encoding
