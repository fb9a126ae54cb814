// A generation in one launch: a block creates, evaluates and improves the children of a slot, and
// selects the survivor. Reads generation g, writes g + 1.
// Random streams: START for the first generation, and those of slots.cuh, the algorithm, the
// problem and the improver.
#pragma once

#include "core/instance.cuh"
#include "generation/slots.cuh"
#include "individual.cuh"

namespace generation {

// The better child, its cost, and the number of evaluations.
struct Evaluated {
    Gene* child;
    int64_t cost, calls;
};

template <class Mover, class Decoder>
__device__ Evaluated evaluate_children(Mover& mover, Decoder& decoder, Scratch scratch,
                                       const Islands& all, const problem::Data& data,
                                       const improver::Plan& improving, const Slot& slot,
                                       Gene* child) {
    Evaluated better{child, 0, slot.redrawn ? 1 : Mover::CHILDREN};
    Individual other{};
    if constexpr (Mover::CHILDREN == 1) {
        better.cost = individual::cost_of(decoder, scratch, all, data,
                                          mover.decoded(decoder, child), child, slot.place);
    } else {
        Gene* const second = child + all.shape.pitch;
        const auto costs =
            individual::evaluate(decoder, scratch, all, data, improving, child, second, slot.place);
        const bool takes_first = costs.first <= costs.second;
        better.child = takes_first ? child : second;
        better.cost = min(costs.first, costs.second);
        other = {takes_first ? costs.second : costs.first, takes_first ? second : child};
    }
    if constexpr (improver::ACTIVE) {
        const bool may = Mover::IMPROVES_REDRAWN || !slot.redrawn;
        if (may && improver::is_due(improving, slot.place)) {
            if constexpr (Mover::CHILDREN > 1) {
                // The improver works on the solution decoded last.
                if (better.child == child) decoder.decode(child);
            }
            better.cost = individual::improve(decoder, scratch, all, data, improving, better.child,
                                              better.cost, slot.place, better.calls);
        }
    }
    if constexpr (!Mover::KEEPS_ALL) {
        // Offer the better child last, so that it overwrites the other one.
        if (other.genes) individual::offer(all, slot.local, slot.slot, other.genes, other.cost);
        individual::offer(all, slot.local, slot.slot, better.child, better.cost);
    }
    return better;
}

}  // namespace generation

// Creates the first generation: `given[island]` individuals already exist, the others are drawn.
KERNEL(first_generation, (Arena arena, Islands all, problem::Data data, algorithm::Plan plan,
                          improver::Plan improving)) {
    Scratch scratch(arena.large()), small(arena.small());
    encoding::Decoder decoder(scratch, small, all.shape);
    Instance own(all, data, plan, improving);
    algorithm::Mover mover(all, own.plan, scratch);
    for (int job = blockIdx.x; job < all.jobs(); job = next_job(job)) {
        if (job != blockIdx.x) __syncthreads();  // the previous individual has been read
        // Always create the first individual, so that there is a solution.
        if (improver::LOOKS_OFTEN && job > 0 && improver::halts(improving)) break;
        const auto slot = generation::slot_of<algorithm::Mover>(all, job, true);
        if (!all.begins(slot.local)) continue;
        if (all.is_absent(slot.local, slot.slot)) {
            all.leave_out(slot.local, slot.slot);
            continue;
        }
        own.choose(slot.local);
        encoding::Gene* const row = all.genes_of(all.row(0, slot.local, slot.slot));
        if (slot.slot < all.given[slot.local]) {
            mover.show(decoder, row);
        } else {
            mover.draw(decoder, row, slot, stream::START);
        }
        const int64_t cost = individual::cost_of(decoder, scratch, all, own.data,
                                                 mover.decoded(decoder, row), row, slot.place);
        generation::replace(mover, all, slot, row, cost, 1);
    }
}

// Creates the next generation.
KERNEL(next_generation, (Arena arena, Islands all, problem::Data data, algorithm::Plan plan,
                         improver::Plan improving)) {
    Scratch scratch(arena.large()), small(arena.small());
    encoding::Decoder decoder(scratch, small, all.shape);
    Instance own(all, data, plan, improving);
    algorithm::Mover mover(all, own.plan, scratch);
    for (int job = blockIdx.x; job < all.jobs(); job = next_job(job)) {
        if (job != blockIdx.x) __syncthreads();  // the children of the previous slot have been read
        if (improver::LOOKS_OFTEN && improver::halts(improving)) break;
        const auto slot = generation::slot_of<algorithm::Mover>(all, job, false);
        if (all.rests(slot.local)) continue;
        own.choose(slot.local);
        const bool stays = all.is_left_out(slot.local, slot.slot, algorithm::Mover::CHILDREN);
        if ((stays || !slot.redrawn) && (mover.passes(slot) || stays)) {
            generation::put(all, slot, mover.current(slot));
            continue;
        }
        encoding::Gene* const row = all.genes_of(all.row(slot.made, slot.local, slot.slot));
        encoding::Gene* const child =
            generation::make_children(mover, decoder, scratch, all, slot, row);
        const auto better = generation::evaluate_children(mover, decoder, scratch, all, own.data,
                                                          own.improving, slot, child);
        generation::replace(mover, all, slot, better.child, better.cost, better.calls);
    }
}
