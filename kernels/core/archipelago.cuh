// The islands of one rank as every kernel sees them: contiguous arrays, advanced together.
// Generation g lies in half g % 2 of the arrays `genes` and `cost`; g + 1 is written to the other
// half.
#pragma once

#include "core/core.cuh"

struct Island {
    int64_t generation;
    int64_t best;             // lowest cost since the island began or last restarted
    int64_t best_generation;  // when that was found
    int64_t restart;          // 1: the next generation is drawn afresh
    int64_t restarts;
    int64_t archived;             // cost of the best individual kept from before restarts
    int64_t archived_generation;  // when that was found
    uint64_t seed;                // of its run; of several side by side, each has its own
    int64_t number;               // of the island in its run
};

// Where children lie that somebody else judges; of each slot so many as its algorithm makes.
struct Outside {
    encoding::Gene* genes;  // [islands][population][children][pitch]
    int64_t* cost;          // [islands][population][children]
    int32_t* waiting;       // [islands][population]: children that are to be judged
};

// A field of the algorithm's that goes with an individual to another island.
struct Trait {
    char* rows;         // [islands][population] of `bytes`, or as much for each half
    int32_t bytes;      // that an individual has
    int32_t in_halves;  // whether it is there twice, as genes are
    int32_t offset;     // in a migrant
};

struct Archipelago {
    Island* island;
    encoding::Gene* genes;    // [2][islands][population][pitch]
    int64_t* cost;            // [2][islands][population]
    int32_t* order;           // [islands][population]: individuals from best to worst
    int64_t* calls;           // [islands][population]: of the objective, so far
    encoding::Gene* archive;  // [islands][pitch], or null where no island can lose its best
    // The last feasible solution that came to each place of the population, which may have refused
    // it; of a swarm, where each particle is. As genes and cost, or null.
    encoding::Gene* met;
    int64_t* met_cost;
    const int32_t* given;  // [islands]: solutions that are there before the first generation
    Outside outside;       // null where kernels judge
    int32_t* changed;      // [islands][population]: set to 1 by who replaces an individual, or null
    const Trait* traits;   // so many
    int32_t trait_count, migrant_bytes;
    int32_t islands, population;
    encoding::Shape shape;
    uint64_t share;  // of 2^64, of one in a population, rounded up

    // An individual and its island, among those of this rank.
    struct Individual {
        int32_t local, slot;
    };

    // Returns where one stands, counted over all islands on end. A product is quicker than a
    // division.
    __device__ Individual individual(int32_t number) const {
        const int32_t local = __umul64hi(share, uint32_t(number));
        return {local, number - local * population};
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

    // Returns what the individual of a row has of a trait.
    __device__ char* trait_of(const Trait& trait, int32_t row) const {
        const int32_t half = islands * population;
        return trait.rows + int64_t(trait.in_halves || row < half ? row : row - half) * trait.bytes;
    }

    // Where the draws of an individual stand.
    __device__ draw::Place place(int local, int64_t generation, int individual) const {
        return {island[local].seed, uint32_t(island[local].number), generation,
                uint32_t(individual)};
    }

    // Counts calls of the objective for the individual that a block is at work on.
    __device__ void count(int island, int individual, int64_t many) const {
        if (threadIdx.x == 0) add(&calls[island * population + individual], many);
    }
};

// Copies bytes, so many of a `Unit` a step.
template <class Unit>
__device__ void copy_bytes(void* to, const void* from, int bytes) {
    const int steps = bytes / sizeof(Unit);
    Unit* target = static_cast<Unit*>(to);
    const Unit* source = static_cast<const Unit*>(from);
    for (int i = threadIdx.x; i < steps; i += blockDim.x) target[i] = source[i];
}

// Copies one row of genes, sixteen bytes a step.
__device__ void copy_row(encoding::Gene* to, const encoding::Gene* from, int pitch) {
    copy_bytes<uint4>(to, from, pitch * sizeof(encoding::Gene));
}
