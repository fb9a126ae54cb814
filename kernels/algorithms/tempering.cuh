// Parallel tempering: an island has ladders of replicas, Markov chains at different temperatures,
// which exchange temperatures after each generation. Reads generation g, writes g + 1, and the
// fields of tempering/plan.cuh in place. With ISLANDS_OUTSIDE, the host evaluates between launches;
// with ISLANDS_ROOM, only the required scratch memory is computed.
// Random streams: those of the included files.
#pragma once

#include "core/instance.cuh"
#include "tempering/ladder.cuh"

#ifdef ISLANDS_OUTSIDE
#include "tempering/waiting_replica.cuh"
#else
#include "tempering/replica.cuh"
#endif

#ifndef ISLANDS_ROOM
#ifdef ISLANDS_OUTSIDE
#include "tempering/outside.cuh"
#else
#include "tempering/fused.cuh"
#endif

namespace tempering {

// Call visit(ladder, island) for each ladder, in a thread of its own.
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
    const int64_t most = tempering::Replica::room(all, data, plan);
    if (threadIdx.x == 0) bytes[0] = most, bytes[1] = 0;
}
