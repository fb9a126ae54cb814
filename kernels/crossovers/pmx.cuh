// Partially matched crossover (Goldberg and Lingle 1985): a segment is from one mate, the rest from
// the other; what is in the segment already is replaced by what the segment has put in its place.
#pragma once

#include "crossovers/base.cuh"

namespace crossover {

struct Workspace {
    Places places;

    __device__ Workspace(Scratch& scratch, const encoding::Shape& shape)
        : places(scratch, shape.n) {}
};

// Returns what takes the place of an item outside the segment.
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
