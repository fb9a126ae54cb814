// The pairs i < j of n items, distributed evenly over the threads of a block. Accesses no memory
// itself. No random numbers.
#pragma once

#include "core/compiler.cuh"

namespace block {

// Call visit(i, j) once for each pair. Neighbouring threads mostly receive neighbouring j.
template <class Visit>
__device__ void pairs(int n, Visit visit) {
#ifdef __CUDACC__
    // Short rows of the triangle complement long ones: row i and row n - 1 - i (n - 2 - i for an
    // odd n) form one line of a rectangle.
    const int odd = n % 2, width = n - 1 + odd, height = n / 2;
    // An integer up to 1024 plus one half is never close to a multiple of the width, so the fast
    // division finds the right line.
    const float share = __fdividef(1.0f, float(width));
    const int down = int((blockDim.x + 0.5f) * share), right = blockDim.x - down * width;
    int line = int((threadIdx.x + 0.5f) * share), column = threadIdx.x - line * width;
    while (line < height) {
        const bool first = line + column < n - 1;
        visit(first ? line : n - 1 - odd - line, column + 1 + (first ? line : -odd));
        const bool wraps = column >= width - right;
        line += wraps ? down + 1 : down;
        column += wraps ? right - width : right;
    }
#else
    for (int i = 0; i < n; ++i) {
        for (int j = i + 1; j < n; ++j) visit(i, j);
    }
#endif
}

}  // namespace block
