// What both ways to make a generation have in common: which slot is whose, how children are made,
// and who takes the place.
#pragma once

#include "algorithms/base.cuh"

namespace generation {

using algorithm::Individual;
using algorithm::Slot;
using encoding::Gene;

// Returns the slot of a job in the first generation, or in the next one.
template <class Mover>
__device__ Slot slot_of(const Archipelago& all, int job, bool first) {
    int local = 0, slot = 0;
    if (Mover::LAST_FIRST && !first) {
        const int nth = uint32_t(job) / all.islands;
        local = job - nth * all.islands, slot = all.population - 1 - nth;
    } else {
        const auto mine = all.individual(job);
        local = mine.local, slot = mine.slot;
    }
    const int64_t made = first ? 0 : all.island[local].generation + 1;
    const bool afresh = first || all.island[local].restart;
    return {local, slot, made, afresh, all.place(local, made, slot)};
}

// Gives a place to an individual, by its genes and its cost.
__device__ void put(const Archipelago& all, const Slot& slot, const Individual& individual) {
    const int32_t row = all.row(slot.made, slot.local, slot.slot);
    if (all.genes_of(row) != individual.genes) {
        copy_row(all.genes_of(row), individual.genes, all.shape.pitch);
    }
    if (threadIdx.x == 0) all.cost[row] = individual.cost;
}

// Makes the children of a slot, or draws them afresh. They need not be visible to all threads yet.
template <class Mover, class Decoder>
__device__ Gene* made(Mover& mover, Decoder& decoder, Scratch scratch, const Archipelago& all,
                      const Slot& slot, Gene* row) {
    if (!slot.afresh) return mover.make(decoder, scratch, row, slot);
    Gene* const child = mover.children(row);
    mover.draw(decoder, child, slot, stream::MUTANT);
    if constexpr (Mover::CHILDREN > 1) {
        __syncthreads();
        for (int k = 1; k < Mover::CHILDREN; ++k) {
            copy_row(child + k * all.shape.pitch, child, all.shape.pitch);
        }
    }
    return child;
}

// Settles who takes a place: the better child of a slot, or the one who stands there.
template <class Mover>
__device__ void settle(Mover& mover, const Archipelago& all, const Slot& slot, const Gene* child,
                       int64_t cost, int64_t calls) {
    const bool enters = slot.afresh || mover.enters(slot, child, cost);
    mover.settle(slot, child, cost, enters);
    put(all, slot, enters ? Individual{cost, child} : mover.standing(slot));
    all.count(slot.local, slot.slot, calls);
}

}  // namespace generation
