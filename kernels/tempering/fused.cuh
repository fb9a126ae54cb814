// The launches that advance replicas; a block processes one replica after another. Reads generation
// g, writes g + 1. Random streams: those of replica.cuh.
#pragma once

#include "core/instance.cuh"
#include "tempering/replica.cuh"

// A block creates the individuals of generation 0, of which `given[island]` already exist.
KERNEL(first_replicas, (Arena arena, Islands all, problem::Data data, algorithm::Plan plan,
                        improver::Plan improving)) {
    Scratch scratch(arena.large());
    Instance own(all, data, plan, improving);
    tempering::Replica replica(scratch, all, own.data, own.plan);
    for (int job = blockIdx.x; job < all.jobs(); job = next_job(job)) {
        if (job != blockIdx.x) __syncthreads();  // the previous individual has been read
        // Always create the first individual, so that there is a solution.
        if (improver::LOOKS_OFTEN && job > 0 && improver::halts(improving)) break;
        const auto [local, slot] = all.of_job(job);
        if (!all.begins(local)) continue;
        if (all.is_absent(local, slot)) {
            all.leave_out(local, slot);
            continue;
        }
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
