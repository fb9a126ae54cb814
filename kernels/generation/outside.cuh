// A generation in two launches, for evaluation between them. The first reads generation g and
// writes all children to `outside.genes` and, with ISLANDS_STORED, their solutions to
// `outside.solutions`. The host, a Python function (ISLANDS_STORED) or a kernel with one thread per
// child (ISLANDS_TILED) evaluates those counted in `outside.waiting`. The last launch reads
// `outside.cost`, selects the survivors, and writes generation g + 1. Random streams: START for the
// first generation, and those of slots.cuh and the algorithm.
#pragma once

#include "core/instance.cuh"
#include "generation/slots.cuh"

static_assert(algorithm::Mover::CHILDREN == ISLANDS_OUTSIDE,
              "Python has another number of children");

namespace generation {

__device__ Gene* children_of(const Islands& all, const Slot& slot) {
    return all.outside.genes +
           all.number(slot.local, slot.slot) * algorithm::Mover::CHILDREN * all.shape.pitch;
}

#ifdef ISLANDS_STORED

// Store the solution of child `number` of an island.
template <class Solution>
__device__ void store_solution(const Islands& all, const Slot& slot, int number,
                               const Solution& solution) {
    const int n = genes::items(all.shape), length = problem::stored_length(n);
    problem::Stored* const to = problem::stored_at(
        all.outside.solutions, all.population * algorithm::Mover::CHILDREN, slot.local, number, n);
    for (int i = threadIdx.x; i < length; i += blockDim.x) {
        to[i * problem::STRIDE] = problem::stored(solution, i);
    }
    __syncthreads();
}

// Decode the children of a slot, and store their solutions.
template <class Mover, class Decoder>
__device__ void store_solutions(Mover& mover, Decoder& decoder, const Islands& all,
                                const Slot& slot, const Gene* child, int rows) {
    const int first = slot.slot * Mover::CHILDREN;
    store_solution(all, slot, first, mover.decoded(decoder, child));
    if constexpr (Mover::CHILDREN > 1) {
        for (int k = 1; k < rows; ++k) {
            store_solution(all, slot, first + k, decoder.decode(child + k * all.shape.pitch));
        }
    }
}

#else

template <class Mover, class Decoder>
__device__ void store_solutions(Mover&, Decoder&, const Islands&, const Slot&, const Gene*, int) {}

#endif

template <class Mover, class Decoder>
__device__ void store_children(Mover& mover, Decoder& decoder, Scratch scratch, const Islands& all,
                               const Slot& slot) {
    Gene* const to = children_of(all, slot);
    const Gene* child = to;
    if (slot.made > 0) {
        child = make_children(mover, decoder, scratch, all, slot, to);
    } else if (slot.slot < all.given[slot.local]) {
        child = all.genes_of(all.row(0, slot.local, slot.slot));
        mover.show(decoder, child);
    } else {
        mover.draw(decoder, to, slot, stream::START);
    }
    __syncthreads();
    const int rows = slot.made > 0 ? Mover::CHILDREN : 1;
    for (int k = 0; k < rows && child != to; ++k) {
        copy_row(to + k * all.shape.pitch, child + k * all.shape.pitch, all.shape.pitch);
    }
    if (threadIdx.x == 0) all.outside.waiting[all.number(slot.local, slot.slot)] = rows;
    store_solutions(mover, decoder, all, slot, child, rows);
}

template <class Mover, class Own>
__device__ void make_all(const Arena& arena, const Islands& all, Own own, bool first) {
    Scratch scratch(arena.large()), small(arena.small());
    encoding::Decoder decoder(scratch, small, all.shape);
    Mover mover(all, own.plan, scratch);
    for (int job = blockIdx.x; job < all.jobs(); job = next_job(job)) {
        if (job != blockIdx.x) __syncthreads();  // the children of the previous slot have been read
        const Slot slot = slot_of<Mover>(all, job, first);
        if (first ? !all.begins(slot.local) : all.rests(slot.local)) {
            if (threadIdx.x == 0) all.outside.waiting[all.number(slot.local, slot.slot)] = 0;
            continue;
        }
        if (first && all.is_absent(slot.local, slot.slot)) {
            all.leave_out(slot.local, slot.slot);
            if (threadIdx.x == 0) all.outside.waiting[all.number(slot.local, slot.slot)] = 0;
            continue;
        }
        own.choose(slot.local);
        const bool stays = !first && all.is_left_out(slot.local, slot.slot, Mover::CHILDREN);
        if ((stays || !slot.redrawn) && (mover.passes(slot) || stays)) {
            put(all, slot, mover.current(slot));
            if (threadIdx.x == 0) all.outside.waiting[all.number(slot.local, slot.slot)] = 0;
        } else {
            store_children(mover, decoder, scratch, all, slot);
        }
    }
}

template <class Mover, class Own>
__device__ void replace_all(const Arena& arena, const Islands& all, Own own, bool first) {
    Scratch scratch(arena.large()), small(arena.small());
    encoding::Decoder decoder(scratch, small, all.shape);
    Mover mover(all, own.plan, scratch);
    for (int job = blockIdx.x; job < all.jobs(); job = next_job(job)) {
        if (job != blockIdx.x) __syncthreads();
        const Slot slot = slot_of<Mover>(all, job, first);
        const int waiting = all.outside.waiting[all.number(slot.local, slot.slot)];
        if (waiting == 0) continue;
        own.choose(slot.local);
        if (!slot.redrawn) mover.passes(slot);  // repeat the preparation of the slot
        const Gene* child = children_of(all, slot);
        const int64_t* const costs =
            all.outside.cost + all.number(slot.local, slot.slot) * Mover::CHILDREN;
        int64_t cost = costs[0];
        if (waiting > 1 && costs[1] < cost) child += all.shape.pitch, cost = costs[1];
        replace(mover, all, slot, child, cost, slot.redrawn ? 1 : waiting);
    }
}

}  // namespace generation

KERNEL(first_generation_made, (Arena arena, Islands all, problem::Data data, algorithm::Plan plan,
                               improver::Plan improving)) {
    generation::make_all<algorithm::Mover>(arena, all, Instance(all, data, plan, improving), true);
}

KERNEL(first_generation_selected, (Arena arena, Islands all, problem::Data data,
                                   algorithm::Plan plan, improver::Plan improving)) {
    generation::replace_all<algorithm::Mover>(arena, all, Instance(all, data, plan, improving),
                                              true);
}

KERNEL(next_generation_made, (Arena arena, Islands all, problem::Data data, algorithm::Plan plan,
                              improver::Plan improving)) {
    generation::make_all<algorithm::Mover>(arena, all, Instance(all, data, plan, improving), false);
}

KERNEL(next_generation_selected, (Arena arena, Islands all, problem::Data data,
                                  algorithm::Plan plan, improver::Plan improving)) {
    generation::replace_all<algorithm::Mover>(arena, all, Instance(all, data, plan, improving),
                                              false);
}

#ifdef ISLANDS_TILED

namespace generation {

// Return the tile of a block's children, copied to fast memory if the arena is large enough.
__device__ const problem::Stored* staged(const Arena& arena, const Islands& all, int children,
                                         int local, int first, int n) {
    problem::Stored* const tile =
        problem::tile_at(all.outside.solutions, children, local, first, n);
    const int64_t bytes =
        int64_t(problem::stored_length(n)) * problem::TILE * sizeof(problem::Stored);
    if (int64_t(arena.large_bytes) < bytes) return tile;
    __syncthreads();  // the previous tile has been read
    copy_bytes<uint4>(arena.large(), tile, bytes);
    __syncthreads();
    return reinterpret_cast<const problem::Stored*>(arena.large());
}

}  // namespace generation

// Evaluates waiting children, one per thread; a block processes a tile of an island.
KERNEL(evaluate_children, (Arena arena, Islands all, problem::Data data, algorithm::Plan plan,
                           improver::Plan improving)) {
    constexpr int CHILDREN = algorithm::Mover::CHILDREN;
    Instance own(all, data, plan, improving);
    const int children = all.population * CHILDREN, n = genes::items(all.shape);
    // The tiles with children of this rank.
    const int begin = all.first * CHILDREN / problem::TILE;
    const int end = ((all.first + all.made) * CHILDREN + problem::TILE - 1) / problem::TILE;
    const int tiles = end - begin;
    for (int job = blockIdx.x; job < all.islands * tiles; job += gridDim.x) {
        const int local = job / tiles, first = (begin + job - local * tiles) * problem::TILE;
        own.choose(local);
        const problem::Stored* const tile =
            generation::staged(arena, all, children, local, first, n);
        for (int lane = threadIdx.x; lane < problem::TILE; lane += blockDim.x) {
            const int child = first + lane;
            if (child >= children) continue;
            const int64_t slot = all.number(local, child / CHILDREN);
            if (child % CHILDREN >= all.outside.waiting[slot]) continue;
            // Always evaluate the first child, so that generation 0 has a solution.
            if ((job > 0 || lane > 0) && improver::halt_requested(improving)) {
                all.outside.waiting[slot] = 0;
                continue;
            }
            all.outside.cost[slot * CHILDREN + child % CHILDREN] =
                problem::cost_of_one(tile + lane, n, own.data);
        }
    }
}

#elif defined(ISLANDS_STORED)
#include "generation/returned.cuh"
#endif
