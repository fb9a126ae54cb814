// Order crossover (Davis 1985): a child takes a segment from one mate. The missing items fill the
// places after the segment and then those before it, in their cyclic order in the other mate,
// starting after the segment. Reads the mates, writes the children. No random numbers here: the
// cuts come from the caller's random word.
#pragma once

#include "crossovers/base.cuh"

namespace crossover {

struct Workspace {
    Places places;
    uint32_t* rank;

    __device__ Workspace(Scratch& scratch, const encoding::Shape& shape)
        : places(scratch, shape.n), rank(scratch.take<uint32_t>(shape.n)) {}
};

// Create one child. `rank` has room for n words.
__device__ void kept_in_order(Gene* child, const Gene* giver, const Gene* other,
                              const int32_t* place_in_giver, const Segment& kept, int n,
                              uint32_t* rank) {
    const int behind = kept.last + 1;
    const auto around = [&](int step) {
        return behind + step < n ? behind + step : step + behind - n;
    };
    const auto is_lacking = [&](int step) {
        return !kept.holds(place_in_giver[other[around(step)]]);
    };
    for (int step = threadIdx.x; step < n; step += blockDim.x) rank[step] = is_lacking(step);
    __syncthreads();
    block::scan(rank, n);
    for (int step = threadIdx.x; step < n; step += blockDim.x) {
        if (is_lacking(step)) child[around(rank[step])] = other[around(step)];
    }
    for (int i = kept.first + threadIdx.x; i <= kept.last; i += blockDim.x) child[i] = giver[i];
    __syncthreads();  // the ranks have been read
}

__device__ void cross(Scratch scratch, const Pair<Gene>& mates, const Pair<Gene>& children,
                      const encoding::Shape& shape, uint4 word, const draw::Place&) {
    const int n = shape.n;
    const Segment kept = segment(word, n);
    const Workspace workspace(scratch, shape);
    workspace.places.find(mates);
    for (int side = 0; side < 2; ++side) {
        kept_in_order(children[side], mates[side], mates[1 - side], workspace.places[side], kept, n,
                      workspace.rank);
    }
}

}  // namespace crossover
