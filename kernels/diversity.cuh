// How different the individuals of an island are: distances of genomes in a sample, and the number
// of distinct costs. Reads the genes, costs and ranks of generation g; returns integers, which do
// not depend on the number of threads. No random numbers.
#pragma once

#include "core/archipelago.cuh"
#include "core/marks.cuh"

namespace diversity {

constexpr int PAIRS = 8;      // at most: each is a better and a worse individual
constexpr int GENES = 256;    // at most, of each genome
constexpr int ONE = 1 << 24;  // the distance of two keys or coordinates that differ by 1 or more

// Return the distance of two genes: the difference of keys or coordinates, the number of different
// bits of a word, and for other integers whether they differ.
__device__ int64_t distance(double a, double b) {
    const double difference = a < b ? b - a : a - b;
    return difference < 1.0 ? int64_t(difference * ONE) : int64_t(ONE);  // also if it is NaN
}
__device__ int64_t distance(float a, float b) { return distance(double(a), double(b)); }
__device__ int64_t distance(uint32_t a, uint32_t b) { return __popc(a ^ b); }
template <class Gene>
__device__ int64_t distance(Gene a, Gene b) {
    return a != b;
}

// Return the sum of the distances of the genes of all pairs.
__device__ int64_t of_genes(const Archipelago& all, int me) {
    const int size = all.population, sample = min(2 * PAIRS, size), pairs = sample / 2;
    const int genes = min(GENES, all.shape.n);
    const int32_t* const order = all.order + me * size;
    const int64_t generation = all.island[me].generation;
    int64_t mine = 0;
    for (int i = threadIdx.x; i < pairs * genes; i += blockDim.x) {
        const int pair = i / genes;
        const int gene = int64_t(i - pair * genes) * all.shape.n / genes;
        const int better = order[int64_t(pair) * size / sample];
        const int worse = order[int64_t(pair + pairs) * size / sample];
        mine += distance(all.genes_of(all.row(generation, me, better))[gene],
                         all.genes_of(all.row(generation, me, worse))[gene]);
    }
    return block::sum(mine);
}

// Return the number of distinct costs.
__device__ int64_t of_costs(const Archipelago& all, int me) {
    const int32_t* const order = all.order + me * all.population;
    const int64_t* const cost = all.cost + all.row(all.island[me].generation, me, 0);
    int64_t mine = 0;
    for (int i = threadIdx.x; i < all.population; i += blockDim.x) {
        const int64_t own = marks::cost_of(cost[order[i]]);
        mine += i == 0 || own != marks::cost_of(cost[order[i - 1]]);
    }
    return block::sum(mine);
}

}  // namespace diversity
