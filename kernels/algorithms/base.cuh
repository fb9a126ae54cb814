// What the header of an algorithm stands on. It brings the settings as kernels take them and a
// class that moves individuals,
//     struct algorithm::Plan        class algorithm::Mover : public algorithm::Base<Plan>
// and ends with #include "generation.cuh", which has the loop. One block works on one slot of a
// population after another: generation g is read, g + 1 is written.
#pragma once

#include "core/archipelago.cuh"
#include "genes.cuh"

namespace algorithm {

using encoding::Gene;

// A place in the population of an island, for which a block makes the next individual.
struct Slot {
    int local, slot;  // the island, among those of this rank, and the place on it
    int64_t made;     // the generation that is being made
    bool afresh;      // in the first generation, and where the island restarts
    draw::Place place;
};

struct Individual {
    int64_t cost;
    const Gene* genes;
};

// What a mover does that says nothing else. Its constructor takes working memory from the scratch
// and does nothing with it. All threads of a block call all of its functions.
template <class Plan>
class Base {
  public:
    static constexpr int CHILDREN = 1;            // of a slot, on end; the better one counts
    static constexpr bool LAST_FIRST = false;     // whether the last slots take longest
    static constexpr bool KEEPS_ALL = false;      // whether each child gets a place somewhere
    static constexpr bool IMPROVES_FRESH = true;  // whether improvers work after restarts, too

    __device__ Base(const Archipelago& all, const Plan& plan, Scratch&) : all_(all), plan_(plan) {}

    // Returns the bytes that making children takes at most, of a scratch that lies nowhere.
    __device__ int64_t room(const Scratch& scratch) const { return scratch.bytes(); }

    // Looks at a slot; returns whether the one who stands there passes on as it is.
    __device__ bool passes(const Slot&) { return false; }

    // Returns who passes on, or stays where no child enters.
    __device__ Individual standing(const Slot& slot) const { return before(slot, slot.slot); }

    // Draws an individual afresh, to `row`.
    template <class Decoder>
    __device__ void draw(Decoder&, Gene* row, const Slot& slot, uint32_t stream) {
        encoding::fill(row, all_.shape, slot.place, stream);
    }

    // Returns where the children of a slot that is drawn afresh are to lie, unless in its row.
    __device__ Gene* children(Gene* row) { return row; }

    // Tells the decoder of a row that is there already.
    template <class Decoder>
    __device__ void show(Decoder&, const Gene*) {}

    // Returns the solution that a row stands for.
    template <class Decoder>
    __device__ auto decoded(Decoder& decoder, const Gene* row) {
        return decoder.decode(row);
    }

    // Returns whether a child takes the place of who stands there.
    __device__ bool enters(const Slot&, const Gene*, int64_t) { return true; }

    // Keeps what the algorithm has of its own.
    __device__ void settle(const Slot&, const Gene*, int64_t, bool) {}

  protected:
    // The row of an individual of the same island in the generation before.
    __device__ int32_t row_before(const Slot& slot, int individual) const {
        return all_.row(slot.made - 1, slot.local, individual);
    }
    __device__ Individual before(const Slot& slot, int individual) const {
        const int32_t row = row_before(slot, individual);
        return {all_.cost[row], all_.genes_of(row)};
    }
    // The individual of a rank in it, where the algorithm needs them in order; 0 is the best.
    __device__ int ranked(const Slot& slot, int rank) const {
        return all_.order[int64_t(slot.local) * all_.population + rank];
    }
    // Of a slot among all of this rank.
    __device__ int64_t number(const Slot& slot) const { return all_.number(slot.local, slot.slot); }

    const Archipelago& all_;
    const Plan& plan_;
};

}  // namespace algorithm
