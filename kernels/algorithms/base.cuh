// Base of all algorithms. The header of an algorithm declares its settings and a class that creates
// individuals,
//     struct algorithm::Plan        class algorithm::Mover : public algorithm::Base<Plan>
// and ends with #include "generation.cuh", which contains the loop. A block processes one slot of a
// population after another: it reads generation g and writes g + 1.
// Random streams: the one passed by the caller (START or MUTANT).
#pragma once

#include "core/islands.cuh"
#include "genes.cuh"

namespace algorithm {

using encoding::Gene;

// A position in the population of an island, for which a block creates the next individual.
struct Slot {
    int local, slot;  // the island, among those of this rank, and the position on it
    int64_t made;     // the generation to create
    bool redrawn;     // true in the first generation and at a restart of the island
    draw::Place place;
};

struct Individual {
    int64_t cost;
    const Gene* genes;
};

// Default methods of a mover. The constructor takes scratch memory but must not access it. All
// threads of a block call all methods.
template <class Plan>
class Base {
  public:
    static constexpr int CHILDREN = 1;  // per slot, in consecutive rows; the better one is used
    static constexpr bool LAST_FIRST = false;       // whether to begin with the last, slowest slots
    static constexpr bool KEEPS_ALL = false;        // whether every child is stored, none offered
    static constexpr bool IMPROVES_REDRAWN = true;  // whether improvers also run after restarts

    __device__ Base(const Islands& all, const Plan& plan, Scratch&) : all_(all), plan_(plan) {}

    // Return the bytes taken so far plus the maximum needed for creating children.
    __device__ int64_t room(const Scratch& scratch) const { return scratch.bytes(); }

    // Prepare a slot; return whether its individual is copied to the next generation unchanged.
    __device__ bool passes(const Slot&) { return false; }

    // Return the individual that is copied, or that stays if no child replaces it.
    __device__ Individual current(const Slot& slot) const { return before(slot, slot.slot); }

    // Write a new random individual to `row`.
    template <class Decoder>
    __device__ void draw(Decoder&, Gene* row, const Slot& slot, uint32_t stream) {
        encoding::fill(row, all_.shape, slot.place, stream);
    }

    // Return where the children of a restarted slot are written; the default is its own row.
    __device__ Gene* children(Gene* row) { return row; }

    // Pass an existing row to the decoder.
    template <class Decoder>
    __device__ void show(Decoder&, const Gene*) {}

    // Return the solution of a row.
    template <class Decoder>
    __device__ auto decoded(Decoder& decoder, const Gene* row) {
        return decoder.decode(row);
    }

    // Return whether a child replaces the current individual.
    __device__ bool enters(const Slot&, const Gene*, int64_t) { return true; }

    // Store the algorithm's own state after the replacement decision.
    __device__ void store_state(const Slot&, const Gene*, int64_t, bool) {}

  protected:
    // Return the row of an individual of the same island in the previous generation.
    __device__ int32_t row_before(const Slot& slot, int individual) const {
        return all_.row(slot.made - 1, slot.local, individual);
    }
    __device__ Individual before(const Slot& slot, int individual) const {
        const int32_t row = row_before(slot, individual);
        return {all_.cost[row], all_.genes_of(row)};
    }
    // Return the individual with a given rank in the previous generation; 0 is the best. Only for
    // algorithms that require ranks.
    __device__ int ranked(const Slot& slot, int rank) const {
        return all_.order[int64_t(slot.local) * all_.population + rank];
    }
    // Return the index of a slot among all slots of this rank.
    __device__ int64_t number(const Slot& slot) const { return all_.number(slot.local, slot.slot); }

    const Islands& all_;
    const Plan& plan_;
};

}  // namespace algorithm
