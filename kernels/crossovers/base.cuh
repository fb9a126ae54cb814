// What crossovers have in common. Each brings
//     cross(scratch, mates, children, shape, word, place)
// which makes two children with exchanged roles: what child 0 has from mate 0, child 1 has from
// mate 1, and a `Workspace`, made of (scratch, shape), where it takes working memory. The mates are
// complete and visible to all threads on entry; the children are written, but not yet visible to
// other threads, on return. `word` says where to cut, the same for a whole group of individuals;
// `place` is where an individual's own draws stand.
#pragma once

#include "genes.cuh"

namespace crossover {

using encoding::Gene;

// Two arrays on end: of mates, of children, or of what is known of them.
template <class T>
struct Pair {
    T* first;
    int pitch;  // from one to the other

    __device__ T* operator[](int side) const { return first + side * pitch; }
};

// Calls visit(side, i) for both sides and all i below n.
template <class Visit>
__device__ void for_both(int n, Visit visit) {
    for (int k = threadIdx.x; k < 2 * n; k += blockDim.x) visit(int(k >= n), k >= n ? k - n : k);
}

// Some places on end.
struct Segment {
    int first, last;

    __device__ bool holds(int place) const {
        return uint32_t(place - first) <= uint32_t(last - first);
    }
};

// Returns the places from one cut to another, both included.
__device__ Segment segment(uint4 word, int n) {
    const int one = draw::below(word.z, n), other = draw::below(word.w, n);
    return {min(one, other), one < other ? other : one};
}

// Where each item is in the order of either mate.
struct Places : Pair<int32_t> {
    __device__ Places(Scratch& scratch, int n) : Pair<int32_t>{scratch.take<int32_t>(2 * n), n} {}

    // All threads see them on return.
    __device__ void find(const Pair<Gene>& mates) const {
        for_both(pitch, [&](int side, int i) { (*this)[side][int32_t(mates[side][i])] = i; });
        __syncthreads();
    }
};

}  // namespace crossover
