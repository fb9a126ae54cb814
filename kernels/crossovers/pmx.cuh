// Partially matched crossover (Goldberg and Lingle 1985): a child takes a segment from one mate and
// the rest from the other; while the segment contains an item, it is replaced by the other mate's
// item at that place. Reads the mates, writes the children. No random numbers here: the cuts come
// from the caller's random word.
#pragma once

#include "crossovers/base.cuh"

namespace crossover {

struct Workspace {
    Places places;

    __device__ Workspace(Scratch& scratch, const encoding::Shape& shape)
        : places(scratch, shape.n) {}
};

// Return the item for a place outside the segment.
__device__ Gene unmatched(Gene item, const Segment& kept, const int32_t* place_in_giver,
                          const Gene* other) {
    int place = place_in_giver[item];
    while (kept.holds(place)) {
        item = other[place];
        place = place_in_giver[item];
    }
    return item;
}

__device__ void cross(Scratch scratch, const Pair<Gene>& mates, const Pair<Gene>& children,
                      const encoding::Shape& shape, uint4 word, const draw::Place&) {
    const Segment kept = segment(word, shape.n);
    const Places places = Workspace(scratch, shape).places;
    places.find(mates);
    for_both(shape.n, [&](int side, int i) {
        const Gene* const other = mates[1 - side];
        children[side][i] =
            kept.holds(i) ? mates[side][i] : unmatched(other[i], kept, places[side], other);
    });
}

}  // namespace crossover
