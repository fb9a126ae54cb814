// The neighbours of an individual on a grid: a ring, or a torus stored by rows. Each island is its
// own grid or, with a halo, the islands are consecutive slices of one grid. NEIGHBOURHOOD_KIND
// selects the cells, NEIGHBOURHOOD_RADIUS the distance, NEIGHBOURHOOD_HALO whether there is a halo.
// Reads generation g and the halo. No random numbers.
#pragma once

#include "core/islands.cuh"
#include "migrant.cuh"

#define NEIGHBOURHOOD_RING 0         // RADIUS cells on either side
#define NEIGHBOURHOOD_VON_NEUMANN 1  // up to RADIUS steps along rows and columns
#define NEIGHBOURHOOD_MOORE 2        // up to RADIUS steps along rows, columns and diagonals

namespace neighbourhood {

constexpr int RADIUS = NEIGHBOURHOOD_RADIUS;
// Number of neighbours, without the individual itself.
constexpr int SIZE = NEIGHBOURHOOD_KIND == NEIGHBOURHOOD_RING          ? 2 * RADIUS
                     : NEIGHBOURHOOD_KIND == NEIGHBOURHOOD_VON_NEUMANN ? 2 * RADIUS * (RADIUS + 1)
                                                                       : 4 * RADIUS * (RADIUS + 1);

struct Neighbour {
    int64_t cost;
    const encoding::Gene* genes;
    double fitness;
};

struct Grid {
    int32_t width;  // of the torus
    int32_t reach;  // number of visible individuals beyond each end of the slice
    char* halo;     // these individuals, before and then after the islands of this rank
};

// Return the number of neighbours on each side in a row of the neighbourhood.
__device__ int half_width(int down) {
    if (NEIGHBOURHOOD_KIND == NEIGHBOURHOOD_MOORE) return RADIUS;
    return RADIUS - (down < 0 ? -down : down);
}

// Return the position of a cell of the neighbourhood relative to the first individual of the
// island; it may be outside the island.
__device__ int line_of(const Grid& grid, int slot, int cell) {
    if (NEIGHBOURHOOD_KIND == NEIGHBOURHOOD_RING) return slot + cell - RADIUS;
    int down = -RADIUS, half = half_width(down);
    while (cell > 2 * half) {
        cell -= 2 * half + 1;
        half = half_width(++down);
    }
    const int width = grid.width, across = cell - half, column = slot % width + across;
    const int around = column < 0 ? width : column >= width ? -width : 0;
    return slot + down * width + across + around;
}

__device__ Neighbour of_row(const Islands& all, int32_t row) {
    return {all.cost[row], all.genes_of(row), 0.0};
}

// Return neighbour k of an individual, in the order of the grid; it may be on another island.
__device__ Neighbour at(const Grid& grid, const Islands& all, int64_t generation, int local,
                        int slot, int k) {
    // Skip the centre, which is the individual itself.
    int line = line_of(grid, slot, k + (k >= SIZE / 2));
#if NEIGHBOURHOOD_HALO
    line += local * all.population;
    const int end = all.islands * all.population;
    if (line >= 0 && line < end) return of_row(all, all.row(generation, 0, line));
    const Migrant* const seen =
        migrant_at(all, grid.halo, line < 0 ? grid.reach + line : grid.reach + line - end);
    return {seen->cost, seen->genes(), 0.0};
#else
    if (line < 0) line += all.population;
    if (line >= all.population) line -= all.population;
    return of_row(all, all.row(generation, local, line));
#endif
}

}  // namespace neighbourhood
