// Numbers that are the solution itself: keys in [0, 1) or, with NUMBERS_ARE_COORDINATES,
// coordinates in [0, 1], which the problem scales to its range. Declares the genes and the return
// type of the decoder of direct.cuh; rows_of_keys.cuh writes random rows.
// Random streams: the one passed to `fill`.
#pragma once

#include "core/core.cuh"

namespace encoding {

#if NUMBERS_ARE_COORDINATES
using Gene = double;
#else
using Gene = float;
#endif

struct Numbers {
    const Gene* number;

    __device__ Gene operator[](int i) const { return number[i]; }
};
using Solution = Numbers;

}  // namespace encoding

#include "encodings/direct.cuh"
#include "encodings/rows_of_keys.cuh"
