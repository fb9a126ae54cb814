// Declares the islands of one rank as used by every kernel: contiguous arrays, processed together.
// Generation g is in half g % 2 of the arrays `genes` and `cost`; g + 1 is written to the other
// half.
// No random numbers here: `place` returns the counter of an individual.
#pragma once

#include "core/core.cuh"

struct Island {
    int64_t generation;
    int64_t best;                 // lowest cost since the island started or last restarted
    int64_t best_generation;      // generation in which it was found
    int64_t restart;              // 1: the next generation restarts
    int64_t ended;                // number of populations that have ended: converged or restarted
    int64_t archived;             // cost of the best individual from before restarts
    int64_t archived_generation;  // generation in which it was found
    uint64_t seed;                // of the island's run; simultaneous runs have different seeds
    int64_t number;               // index of the island in its run
};

// Children evaluated between launches: ISLANDS_OUTSIDE of them per slot.
struct Outside {
    encoding::Gene* genes;  // [islands][population][children][pitch]
    int64_t* cost;          // [islands][population][children]
    int32_t* waiting;       // [islands][population]: number of children to evaluate
    char* solutions;        // of the children, in the format of problems/solution.cuh, or null
};

// A field of the algorithm that migrates with an individual.
struct Trait {
    char* rows;         // [islands][population] of `bytes`, for each half if in_halves
    int32_t bytes;      // per individual
    int32_t in_halves;  // whether each half has its own copy, as for genes
    int32_t offset;     // in a migrant
    int32_t bit;        // of Migrant::missing
};

// Whether islands may have a limit of evaluations. Without one, kernels need fewer registers.
#ifdef ISLANDS_LIMITED
constexpr bool IS_LIMITED = true;
#else
constexpr bool IS_LIMITED = false;
#endif
constexpr int64_t UNLIMITED = int64_t(1) << 62;

#ifdef ISLANDS_RUNS
// Several runs, which begin and end at different times.
struct Runs {
    // [islands]: 1 if an island creates generation 0 now while others continue, -1 if it is idle
    // because its run is over; usually 0.
    int32_t* begins;
    // For runs with different instances: see core/instance.cuh.
    const char* rows;  // of bytes, one for the data of each run
    int64_t stride;    // bytes between the data of two runs
    int32_t islands;   // per run
};
#endif

struct Islands {
    Island* island;
    encoding::Gene* genes;    // [2][islands][population][pitch]
    int64_t* cost;            // [2][islands][population]
    int32_t* order;           // [islands][population]: individuals from best to worst
    int64_t* calls;           // [islands][population]: objective evaluations so far
    encoding::Gene* archive;  // [islands][pitch]; null if no island can lose its best individual
    // Candidates for the archive: the last feasible solution created for each slot, even if the
    // population rejected it; in a swarm, the current position of each particle. Genes and cost, or
    // null.
    encoding::Gene* offered;
    int64_t* offered_cost;
    const int32_t* given;  // [islands]: number of given individuals in the first generation
    // [islands]: evaluations allowed in the next generation, if the run has a limit of them and the
    // algorithm counts them individually.
    const int64_t* quota;
    Outside outside;      // null if kernels evaluate
    int32_t* changed;     // [islands][population]: set to 1 when an individual is replaced; or null
    const Trait* traits;  // [trait_count]
    int32_t trait_count, migrant_bytes;
    int32_t islands, population;
    encoding::Shape shape;
    uint64_t reciprocal;  // 2^64 / population, rounded up
    // The slots of each island for which this rank creates individuals: all, or some if ranks share
    // islands.
    int32_t first, made;
#ifdef ISLANDS_RUNS
    Runs runs;
#endif

    // Return whether an island creates generation 0 now.
    __device__ bool begins(int local) const {
#ifdef ISLANDS_RUNS
        return runs.begins[local] > 0;
#else
        return true;
#endif
    }

    // Return whether an island is idle; its contents are then unused.
    __device__ bool rests([[maybe_unused]] int local) const {
#ifdef ISLANDS_RUNS
        return runs.begins[local] < 0;
#else
        return false;
#endif
    }

    // An individual and its island, among those of this rank.
    struct Individual {
        int32_t local, slot;
    };

    // Return the island and slot of an individual, given its number across all islands. A product
    // is faster than a division.
    __device__ Individual individual(int32_t number) const {
        const int32_t local = __umul64hi(reciprocal, uint32_t(number));
        return {local, number - local * population};
    }

    // Number of individuals that this rank creates in a generation, one job each.
    __device__ int32_t jobs() const { return islands * made; }
    __device__ Individual of_job(int32_t job) const {
        if (made == population) return individual(job);
        const int32_t local = job / made;
        return {local, first + job - local * made};
    }

    __device__ int64_t number(int local, int slot) const {
        return int64_t(local) * population + slot;
    }

    __device__ int32_t row(int64_t generation, int island, int individual) const {
        return (int(generation & 1) * islands + island) * population + individual;
    }
    __device__ encoding::Gene* genes_of(int32_t row) const {
        return genes + uint64_t(uint32_t(row)) * uint32_t(shape.pitch);
    }

    // Return the data of a trait for the individual of a row.
    __device__ char* trait_of(const Trait& trait, int32_t row) const {
        const int32_t half = islands * population;
        return trait.rows + int64_t(trait.in_halves || row < half ? row : row - half) * trait.bytes;
    }

    // Return whether no evaluation is left for a slot, whose individual then stays. Evaluations are
    // assigned from the last slot backwards, as algorithms may only copy the first slots.
    __device__ bool is_left_out(int local, int slot, int calls) const {
        return IS_LIMITED && int64_t(population - 1 - slot) * calls >= quota[local];
    }

    // Return whether generation 0 has no evaluation for a slot; the host then copies the first
    // individual of the island to it.
    __device__ bool is_absent(int local, int slot) const {
        return IS_LIMITED && slot >= quota[local];
    }
    __device__ void leave_out(int local, int slot) const {
        if (threadIdx.x == 0) cost[row(0, local, slot)] = block::Least<int64_t>::NONE;
    }

    // Return the share of a slot in the quota, divided evenly among the slots.
    __device__ int64_t quota_of(int local, int slot) const {
        if (!IS_LIMITED) return UNLIMITED;
        return quota[local] / population + (slot < quota[local] % population);
    }

    // Return the counter for the random numbers of an individual.
    __device__ draw::Place place(int local, int64_t generation, int individual) const {
        return {island[local].seed, uint32_t(island[local].number), generation,
                uint32_t(individual)};
    }

    // Add evaluations to the counter of the individual that a block is processing.
    __device__ void count(int island, int individual, int64_t evaluations) const {
        if (threadIdx.x == 0) add(&calls[island * population + individual], evaluations);
    }
};

// Copy bytes, one `Unit` per thread and step.
template <class Unit>
__device__ void copy_bytes(void* to, const void* from, int bytes) {
    const int steps = bytes / sizeof(Unit);
    Unit* target = static_cast<Unit*>(to);
    const Unit* source = static_cast<const Unit*>(from);
    for (int i = threadIdx.x; i < steps; i += blockDim.x) target[i] = source[i];
}

// Copy one row of genes, 16 bytes per thread and step.
__device__ void copy_row(encoding::Gene* to, const encoding::Gene* from, int pitch) {
    copy_bytes<uint4>(to, from, pitch * sizeof(encoding::Gene));
}
