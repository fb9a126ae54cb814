// Vectors: gene i is a coordinate in [0, 1], which the problem maps to its own range. Declares the
// genes and what the decoder of direct.cuh reads and returns. No random numbers here.
#pragma once

#include "core/core.cuh"

namespace encoding {

using Gene = double;

// The coordinates.
struct Vector {
    const double* coordinate;

    __device__ double operator[](int i) const { return coordinate[i]; }
};
using Solution = Vector;

}  // namespace encoding

#include "encodings/direct.cuh"
