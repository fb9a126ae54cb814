// Packs the individuals at both ends of a rank's islands for its neighbours, if all islands are
// slices of one population. Reads generation g, writes the buffer. No random numbers.
#pragma once

#include "core/islands.cuh"
#include "migrant.cuh"

struct Halo {
    int32_t reach;  // number of individuals at each end that neighbours read
    int32_t alone;  // whether this rank is its own neighbour
    char* buffer;   // four slots of `reach` migrants: sent to both neighbours, then received from
                    // them
};

// Each block packs one individual; if the rank is its own neighbour, it also writes the received
// copy.
KERNEL(halo_pack, (Islands all, Halo halo)) {
    const int side = blockIdx.x / halo.reach, k = blockIdx.x % halo.reach;
    const int line = side == 0 ? k : all.islands * all.population - halo.reach + k;
    const int64_t generation = all.island[0].generation;
    const int32_t row = all.row(generation, 0, 0) + line;
    const int slots[2] = {side, 3 - side};
    for (int i = 0; i < 1 + halo.alone; ++i) {
        migrant::pack(all, row, migrant_at(all, halo.buffer, int64_t(slots[i]) * halo.reach + k));
    }
}
