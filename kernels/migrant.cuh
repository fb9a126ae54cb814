// The format of an individual in migration or in a halo: a header, then its genes, then its traits.
// Packing reads a row and writes a migrant; unpacking does the reverse. No random numbers.
#pragma once

#include "core/islands.cuh"

struct alignas(16) Migrant {
    int64_t cost;
    int64_t missing;  // bit i is set if it comes from a colony without trait i

    __device__ encoding::Gene* genes() { return reinterpret_cast<encoding::Gene*>(this + 1); }
    __device__ const encoding::Gene* genes() const {
        return reinterpret_cast<const encoding::Gene*>(this + 1);
    }
    __device__ char* of(const Trait& trait) { return reinterpret_cast<char*>(this) + trait.offset; }
};

// Return the migrant at a position of a buffer.
__device__ Migrant* migrant_at(const Islands& all, char* buffer, int64_t position) {
    return reinterpret_cast<Migrant*>(buffer + position * all.migrant_bytes);
}

namespace migrant {

__device__ void copy_trait(char* to, const char* from, int bytes) {
    if (bytes % sizeof(uint4) == 0) {
        copy_bytes<uint4>(to, from, bytes);
    } else {
        copy_bytes<char>(to, from, bytes);
    }
}

// Copy the individual of a row to a migrant.
__device__ void pack(const Islands& all, int32_t row, Migrant* to) {
    int64_t missing = -1;
    copy_row(to->genes(), all.genes_of(row), all.shape.pitch);
    for (int i = 0; i < all.trait_count; ++i) {
        const Trait trait = all.traits[i];
        missing &= ~(int64_t(1) << trait.bit);
        copy_trait(to->of(trait), all.trait_of(trait, row), trait.bytes);
    }
    if (threadIdx.x == 0) to->cost = all.cost[row], to->missing = missing;
}

// Copy a migrant to a row, except for its cost. The row keeps its own values of missing traits.
__device__ void unpack(const Islands& all, int32_t row, Migrant* from) {
    copy_row(all.genes_of(row), from->genes(), all.shape.pitch);
    for (int i = 0; i < all.trait_count; ++i) {
        const Trait trait = all.traits[i];
        if (from->missing >> trait.bit & 1) continue;
        copy_trait(all.trait_of(trait, row), from->of(trait), trait.bytes);
    }
}

}  // namespace migrant
