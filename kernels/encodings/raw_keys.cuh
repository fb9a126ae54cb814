// Keys in [0, 1) that are the solution itself. Declares the genes and what the decoder of
// direct.cuh reads and returns. No random numbers here.
#pragma once

#include "core/core.cuh"

namespace encoding {

using Gene = float;

// The keys.
struct Keys {
    const float* key;

    __device__ float operator[](int i) const { return key[i]; }
};
using Solution = Keys;

}  // namespace encoding

#include "encodings/direct.cuh"
