// The pairs i < j of n items, dealt to the threads of a block so that all have as many.
#pragma once

namespace block {

// Calls visit(i, j) once for each pair. Neighbouring threads mostly get neighbouring j.
template <class Visit>
__device__ void pairs(int n, Visit visit) {
#ifdef __CUDACC__
    // Row i of the triangle of pairs is short where row n - 1 - i, or n - 2 - i for an odd n, is
    // long: together, they make a line of a rectangle.
    const int odd = n % 2, width = n - 1 + odd, height = n / 2;
    // A whole number of at most 1024, and a half, is so far from any multiple of the width that the
    // fast division finds the right line.
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
