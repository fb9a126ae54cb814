// The pairs i < j of n things, dealt to the threads of a block so that all have as many.
#pragma once

namespace block {

// Calls visit(i, j) once for each pair. Neighbouring threads mostly get neighbouring j.
template <class Visit>
__device__ void pairs(int n, Visit visit) {
#ifdef __CUDACC__
    // Row i of the triangle of pairs is short where row n - 1 - i, or n - 2 - i for an odd n, is
    // long: together, they make a line of a rectangle.
    const int width = n - 1 + n % 2, height = n / 2;
    int line = 0, column = threadIdx.x;
    for (;;) {
        for (; column >= width && line < height; column -= width) ++line;
        if (line >= height) break;
        const int length = n - 1 - line;
        const bool first = column < length;
        const int i = first ? line : n - 1 - n % 2 - line;
        const int j = first ? line + 1 + column : i + 1 + column - length;
        visit(i, j);
        column += blockDim.x;
    }
#else
    for (int i = 0; i < n; ++i) {
        for (int j = i + 1; j < n; ++j) visit(i, j);
    }
#endif
}

}  // namespace block
