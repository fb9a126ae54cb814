// An individual on its way to another island, or seen from there: a head, then its genes.
#pragma once

#include "core/core.cuh"

struct alignas(16) Migrant {
    int64_t cost;
    int64_t spare;

    __device__ encoding::Gene* genes() { return reinterpret_cast<encoding::Gene*>(this + 1); }
    __device__ const encoding::Gene* genes() const {
        return reinterpret_cast<const encoding::Gene*>(this + 1);
    }
};

// Returns the migrant in one position of a buffer, for genomes of `pitch` genes.
__device__ Migrant* migrant_at(char* buffer, int64_t position, int pitch) {
    return reinterpret_cast<Migrant*>(
        buffer + position * (sizeof(Migrant) + pitch * sizeof(encoding::Gene)));
}
