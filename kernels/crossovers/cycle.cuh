// Cycle crossover (Oliver, Smith and Holland 1987): each item keeps its place in one of the mates.
// The places form cycles that contain the same items in both mates; cycles are taken from alternate
// mates, in the order of their first places. Reads the mates, writes the children. No random
// numbers.
#pragma once

#include "crossovers/base.cuh"

namespace crossover {

// A place reached after some steps along a cycle, and the lowest place on the way.
struct Jump {
    int32_t next, lowest;
};

struct Workspace {
    Places places;
    Jump *jump, *doubled;
    uint32_t* number;

    __device__ Workspace(Scratch& scratch, const encoding::Shape& shape)
        : places(scratch, shape.n),
          jump(scratch.take<Jump>(shape.n)),
          doubled(scratch.take<Jump>(shape.n)),
          number(scratch.take<uint32_t>(shape.n)) {}
};

__device__ void cross(Scratch scratch, const Pair<Gene>& mates, const Pair<Gene>& children,
                      const encoding::Shape& shape, uint4, const draw::Place&) {
    const int n = shape.n;
    const Workspace workspace(scratch, shape);
    const Places places = workspace.places;
    Jump *jump = workspace.jump, *doubled = workspace.doubled;
    uint32_t* const number = workspace.number;
    places.find(mates);
    for (int i = threadIdx.x; i < n; i += blockDim.x) jump[i] = {places[0][mates[1][i]], i};
    __syncthreads();
    // Double the number of steps until it covers a whole cycle, which has at most n.
    for (int length = 1; length < n; length *= 2) {
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            const Jump on = jump[jump[i].next];
            doubled[i] = {on.next, min(jump[i].lowest, on.lowest)};
        }
        __syncthreads();
        Jump* const spare = jump;
        jump = doubled;
        doubled = spare;
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) number[i] = jump[i].lowest == i;
    __syncthreads();
    block::scan(number, n);
    for_both(n, [&](int side, int i) {
        const bool is_odd = number[jump[i].lowest] % 2;
        children[side][i] = mates[is_odd ? 1 - side : side][i];
    });
}

}  // namespace crossover
