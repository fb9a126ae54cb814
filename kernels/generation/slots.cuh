// Functions common to both kinds of generation: the slot of a job, its children, and the
// replacement. Reads generation g; writes slots of g + 1 and the evaluation counters.
// Random streams: MUTANT for restarted islands, and those of the algorithm.
#pragma once

#include "algorithms/base.cuh"

namespace generation {

using algorithm::Individual;
using algorithm::Slot;
using encoding::Gene;

// Return the slot of a job in the first or the next generation.
template <class Mover>
__device__ Slot slot_of(const Islands& all, int job, bool first) {
    int local = 0, slot = 0;
    if (Mover::LAST_FIRST && !first) {
        const int nth = uint32_t(job) / all.islands;
        local = job - nth * all.islands, slot = all.first + all.made - 1 - nth;
    } else {
        const auto mine = all.of_job(job);
        local = mine.local, slot = mine.slot;
    }
    const int64_t made = first ? 0 : all.island[local].generation + 1;
    const bool redrawn = first || all.island[local].restart;
    return {local, slot, made, redrawn, all.place(local, made, slot)};
}

// Write an individual, genes and cost, to a slot of the next generation.
__device__ void put(const Islands& all, const Slot& slot, const Individual& individual) {
    const int32_t row = all.row(slot.made, slot.local, slot.slot);
    if (all.genes_of(row) != individual.genes) {
        copy_row(all.genes_of(row), individual.genes, all.shape.pitch);
    }
    if (threadIdx.x == 0) all.cost[row] = individual.cost;
}

// Create the children of a slot, or draw them if it restarts. The children may not be visible to
// all threads yet.
template <class Mover, class Decoder>
__device__ Gene* make_children(Mover& mover, Decoder& decoder, Scratch scratch, const Islands& all,
                               const Slot& slot, Gene* row) {
    if (!slot.redrawn) return mover.make(decoder, scratch, row, slot);
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

// Select the survivor of a slot, the better child or the current individual, and write it.
template <class Mover>
__device__ void replace(Mover& mover, const Islands& all, const Slot& slot, const Gene* child,
                        int64_t cost, int64_t calls) {
    const bool enters = slot.redrawn || mover.enters(slot, child, cost);
    mover.store_state(slot, child, cost, enters);
    put(all, slot, enters ? Individual{cost, child} : mover.current(slot));
    all.count(slot.local, slot.slot, calls);
}

}  // namespace generation
