// Cycle crossover (Oliver, Smith and Holland 1987): each item is where one of the mates has it.
// The places fall into cycles that have the same things in both mates; these are taken from the
// mates in turn, in the order of their first places.
#pragma once

#include "crossovers/base.cuh"

namespace crossover {

// A place that is on with the lowest one that was met on the way there.
struct Way {
    int32_t next, lowest;
};

struct Workspace {
    Places places;
    Way *way, *longer;
    uint32_t* number;

    __device__ Workspace(Scratch& scratch, const encoding::Shape& shape)
        : places(scratch, shape.n),
          way(scratch.take<Way>(shape.n)),
          longer(scratch.take<Way>(shape.n)),
          number(scratch.take<uint32_t>(shape.n)) {}
};

__device__ void cross(Scratch scratch, const Pair<Gene>& mates, const Pair<Gene>& children,
                      const encoding::Shape& shape, uint4, const draw::Place&) {
    const int n = shape.n;
    const Workspace workspace(scratch, shape);
    const Places places = workspace.places;
    Way *way = workspace.way, *longer = workspace.longer;
    uint32_t* const number = workspace.number;
    places.find(mates);
    for (int i = threadIdx.x; i < n; i += blockDim.x) way[i] = {places[0][mates[1][i]], i};
    __syncthreads();
    // Ways of 1, 2, 4, ... steps: a cycle has at most n.
    for (int length = 1; length < n; length *= 2) {
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            const Way on = way[way[i].next];
            longer[i] = {on.next, min(way[i].lowest, on.lowest)};
        }
        __syncthreads();
        Way* const shorter = way;
        way = longer;
        longer = shorter;
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) number[i] = way[i].lowest == i;
    __syncthreads();
    block::scan(number, n);
    for_both(n, [&](int side, int i) {
        const bool is_odd = number[way[i].lowest] % 2;
        children[side][i] = mates[is_odd ? 1 - side : side][i];
    });
}

}  // namespace crossover
