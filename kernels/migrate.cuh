// Migration: emigrants are packed into one buffer, which travels as it is, and immigrants are taken
// from one.
#pragma once

#include "core/archipelago.cuh"

// An individual on its way: this head, then its genes.
struct alignas(16) Migrant {
    int64_t cost;
    int64_t spare;

    __device__ encoding::Gene* genes() { return reinterpret_cast<encoding::Gene*>(this + 1); }
};

__device__ Migrant* migrant_at(char* buffer, int64_t position, int pitch) {
    return reinterpret_cast<Migrant*>(
        buffer + position * (sizeof(Migrant) + pitch * sizeof(encoding::Gene)));
}

// One block packs one emigrant: the best of each island, best first.
KERNEL(migrate_pack, (Archipelago all, int32_t migrants, char* emigrants)) {
    const int me = blockIdx.x / migrants, position = blockIdx.x % migrants;
    const int individual = all.order[me * all.population + position];
    const int64_t row = all.row(all.island[me].generation, me, individual);
    Migrant* const leaving = migrant_at(emigrants, blockIdx.x, all.shape.pitch);
    if (threadIdx.x == 0) leaving->cost = all.cost[row], leaving->spare = 0;
    copy_row(leaving->genes(), all.genes_of(row), all.shape.pitch);
}

// One block takes one immigrant. `sources` lists, for each of this rank's islands, the `degree`
// islands whose migrants it receives, ascending. Immigrants are ordered by (cost, source,
// position); the first replaces the worst individual, the second the second worst, and so on.
KERNEL(migrate_take, (Archipelago all, int32_t migrants, int32_t degree, const int32_t* sources,
                      char* immigrants)) {
    const int arrivals = degree * migrants;
    const int me = blockIdx.x / arrivals, mine = blockIdx.x % arrivals;
    const int32_t* const source = sources + me * degree;
    const auto cost_of = [&](int arrival) {
        const int64_t position =
            int64_t(source[arrival / migrants]) * migrants + arrival % migrants;
        return migrant_at(immigrants, position, all.shape.pitch)->cost;
    };
    const block::Ranked self{cost_of(mine), uint32_t(mine)};
    int64_t ahead = 0;
    for (int i = threadIdx.x; i < arrivals; i += blockDim.x) {
        ahead += block::Ranked{cost_of(i), uint32_t(i)}.before(self);
    }
    const int place = block::sum(ahead);
    const int individual = all.order[(me + 1) * all.population - 1 - place];
    const int64_t row = all.row(all.island[me].generation, me, individual);
    const int64_t position = int64_t(source[mine / migrants]) * migrants + mine % migrants;
    if (threadIdx.x == 0) all.cost[row] = self.value;
    copy_row(all.genes_of(row), migrant_at(immigrants, position, all.shape.pitch)->genes(),
             all.shape.pitch);
}
