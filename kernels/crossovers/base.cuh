// Base of all crossovers. Each declares
//     cross(scratch, mates, children, shape, word, place)
// which makes two children with exchanged roles: what child 0 takes from mate 0, child 1 takes from
// mate 1. If it takes scratch memory, it also declares a `Workspace`, constructed from (scratch,
// shape). It reads the mates, which are complete and visible to all threads on entry. It writes the
// children, which are not yet visible to other threads on return. `word` gives the cut points, the
// same for a group of individuals; `place` gives an individual's own draws.
// Random streams: CROSS, if a crossover draws from `place`.
#pragma once

#include "genes.cuh"

namespace crossover {

using encoding::Gene;

// Two consecutive arrays: of mates, children, or data about them.
template <class T>
struct Pair {
    T* first;
    int pitch;  // distance from the first to the second

    __device__ T* operator[](int side) const { return first + side * pitch; }
};

// Call visit(side, i) for both sides and all i below n.
template <class Visit>
__device__ void for_both(int n, Visit visit) {
    for (int k = threadIdx.x; k < 2 * n; k += blockDim.x) visit(int(k >= n), k >= n ? k - n : k);
}

// Zero the padding genes, which crossovers do not write, as rows are copied with their padding.
__device__ void clear_ends(const Pair<Gene>& children, const encoding::Shape& shape) {
    for_both(shape.pitch - shape.n,
             [&](int side, int i) { children[side][shape.n + i] = Gene(0); });
}

// A range of consecutive places.
struct Segment {
    int first, last;

    __device__ bool holds(int place) const {
        return uint32_t(place - first) <= uint32_t(last - first);
    }
};

// Return the places between two random cuts, both inclusive.
__device__ Segment segment(uint4 word, int n) {
    const int one = draw::below(word.z, n), other = draw::below(word.w, n);
    return {min(one, other), one < other ? other : one};
}

// The place of each item in the order of each mate.
struct Places : Pair<int32_t> {
    __device__ Places(Scratch& scratch, int n) : Pair<int32_t>{scratch.take<int32_t>(2 * n), n} {}

    // The result is visible to all threads on return.
    __device__ void find(const Pair<Gene>& mates) const {
        for_both(pitch, [&](int side, int i) { (*this)[side][int32_t(mates[side][i])] = i; });
        __syncthreads();
    }
};

}  // namespace crossover
