// The kernels of tempering with moves that the host evaluates between launches. Reads generation g;
// writes g + 1. Random streams: those of waiting_replica.cuh.
#pragma once

#include "tempering/waiting_replica.cuh"
#ifdef ISLANDS_STORED
#include "generation/returned.cuh"
#endif

namespace tempering {

// Call visit(replica, is_given) for each replica of this rank; is_given: whether its individual is
// a start solution.
template <class Visit>
__device__ void for_replicas(const Arena& arena, const Islands& all, const problem::Data& data,
                             const algorithm::Plan& plan, Visit visit) {
    for (int job = blockIdx.x; job < all.jobs(); job = next_job(job)) {
        if (job != blockIdx.x) __syncthreads();
        const auto [local, slot] = all.of_job(job);
        Scratch scratch(arena.large());
        Replica replica(scratch, all, data, plan, local, slot);
        visit(replica, slot < all.given[local]);
    }
}

}  // namespace tempering

KERNEL(first_replicas,
       (Arena arena, Islands all, problem::Data data, algorithm::Plan plan, improver::Plan)) {
    tempering::for_replicas(arena, all, data, plan, [](tempering::Replica& replica, bool is_given) {
        replica.start(is_given);
    });
}

KERNEL(advance_replicas,
       (Arena arena, Islands all, problem::Data data, algorithm::Plan plan, improver::Plan)) {
    tempering::for_replicas(arena, all, data, plan,
                            [](tempering::Replica& replica, bool) { replica.advance(); });
}

KERNEL(evaluate_first_replicas,
       (Arena arena, Islands all, problem::Data data, algorithm::Plan plan, improver::Plan)) {
    tempering::for_replicas(arena, all, data, plan,
                            [](tempering::Replica& replica, bool) { replica.evaluate(0); });
}

KERNEL(evaluate_replicas,
       (Arena arena, Islands all, problem::Data data, algorithm::Plan plan, improver::Plan)) {
    tempering::for_replicas(arena, all, data, plan,
                            [](tempering::Replica& replica, bool) { replica.evaluate_next(); });
}
