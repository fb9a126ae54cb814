// Parallel tempering on orders whose exchanges have stored deltas: an island has ladders of
// replicas, Markov chains at different temperatures, which exchange them after each generation.
// Reads generation g, writes g + 1, and the fields of tempering/plan.cuh in place.
// Random streams: those of the files that it includes.
#pragma once

#include "core/instance.cuh"
#include "tempering/ladder.cuh"

#ifndef ISLANDS_ROOM
#ifdef ISLANDS_OUTSIDE
#ifdef ISLANDS_STORED
#include "generation/returned.cuh"
#endif

namespace tempering {

// Call visit(replica, given) for each replica that this rank makes.
template <class Visit>
__device__ void for_replicas(const Arena& arena, const Islands& all, const algorithm::Plan& plan,
                             Visit visit) {
    for (int job = blockIdx.x; job < all.jobs(); job = next_job(job)) {
        if (job != blockIdx.x) __syncthreads();
        const auto [local, slot] = all.of_job(job);
        Scratch scratch(arena.large());
        WaitingReplica replica(scratch, all, plan, local, slot);
        visit(replica, slot < all.given[local]);
    }
}

}  // namespace tempering

KERNEL(first_replicas,
       (Arena arena, Islands all, problem::Data, algorithm::Plan plan, improver::Plan)) {
    tempering::for_replicas(
        arena, all, plan,
        [](tempering::WaitingReplica& replica, bool is_given) { replica.start(is_given); });
}

KERNEL(advance_replicas,
       (Arena arena, Islands all, problem::Data, algorithm::Plan plan, improver::Plan)) {
    tempering::for_replicas(arena, all, plan,
                            [](tempering::WaitingReplica& replica, bool) { replica.advance(); });
}

KERNEL(judge_first_replicas,
       (Arena arena, Islands all, problem::Data, algorithm::Plan plan, improver::Plan)) {
    tempering::for_replicas(arena, all, plan,
                            [](tempering::WaitingReplica& replica, bool) { replica.judge(0); });
}

KERNEL(judge_replicas,
       (Arena arena, Islands all, problem::Data, algorithm::Plan plan, improver::Plan)) {
    tempering::for_replicas(arena, all, plan,
                            [](tempering::WaitingReplica& replica, bool) { replica.judge_next(); });
}

#else

// A block makes the individuals of generation 0, of which `given[island]` exist already.
KERNEL(first_replicas, (Arena arena, Islands all, problem::Data data, algorithm::Plan plan,
                        improver::Plan improving)) {
    Scratch scratch(arena.large());
    Instance own(all, data, plan, improving);
    tempering::Replica replica(scratch, all, own.data, own.plan);
    for (int job = blockIdx.x; job < all.jobs(); job = next_job(job)) {
        if (job != blockIdx.x) __syncthreads();  // the previous individual has been read
        // Always make the first individual, so that there is one.
        if (improver::LOOKS_OFTEN && job > 0 && improver::halts(improving)) break;
        const auto [local, slot] = all.of_job(job);
        if (!all.begins(local)) continue;
        own.choose(local);
        replica.start(local, slot, slot < all.given[local], improving);
    }
}

KERNEL(advance_replicas, (Arena arena, Islands all, problem::Data data, algorithm::Plan plan,
                          improver::Plan improving)) {
    Scratch scratch(arena.large());
    Instance own(all, data, plan, improving);
    tempering::Replica replica(scratch, all, own.data, own.plan);
    for (int job = blockIdx.x; job < all.jobs(); job = next_job(job)) {
        if (job != blockIdx.x) __syncthreads();
        if (improver::LOOKS_OFTEN && improver::halts(improving)) break;
        const auto [local, slot] = all.of_job(job);
        if (all.rests(local)) continue;
        own.choose(local);
        replica.advance(local, slot, improving);
    }
}

#endif

namespace tempering {

// Call visit(ladder, island) for each ladder, in one thread.
template <class Own, class Visit>
__device__ void for_ladders(const Islands& all, Own own, Visit visit) {
    const int ladders = all.population / own.plan.rungs;
    for (int local = blockIdx.x; local < all.islands; local += gridDim.x) {
        own.choose(local);
        for (int k = threadIdx.x; k < ladders; k += blockDim.x) {
            visit(Ladder(all, own.plan, local, k), local);
        }
    }
}

}  // namespace tempering

KERNEL(first_ladders,
       (Arena, Islands all, problem::Data data, algorithm::Plan plan, improver::Plan improving)) {
    tempering::for_ladders(all, Instance(all, data, plan, improving),
                           [&](const tempering::Ladder& ladder, int local) {
                               if (all.begins(local)) ladder.start();
                           });
}

KERNEL(end_ladders,
       (Arena, Islands all, problem::Data data, algorithm::Plan plan, improver::Plan improving)) {
    tempering::for_ladders(all, Instance(all, data, plan, improving),
                           [&](const tempering::Ladder& ladder, int local) {
                               ladder.end(all.island[local].generation + 1);
                           });
}

KERNEL(adopt_immigrants,
       (Arena, Islands all, problem::Data data, algorithm::Plan plan, improver::Plan improving)) {
    tempering::for_ladders(all, Instance(all, data, plan, improving),
                           [](const tempering::Ladder& ladder, int) { ladder.adopt(); });
}

#endif

// Write the bytes of the large and the small part of a block's arena.
KERNEL(room,
       (Islands all, problem::Data data, algorithm::Plan plan, improver::Plan, int64_t* bytes)) {
#ifdef ISLANDS_OUTSIDE
    const int64_t most = tempering::WaitingReplica::room(all, plan);
#else
    const int64_t most = tempering::Replica::room(all, data, plan);
#endif
    if (threadIdx.x == 0) bytes[0] = most, bytes[1] = 0;
}
