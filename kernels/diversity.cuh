// Diversity of an island: distances of genomes in a sample, and the number of distinct costs. With
// GENES_ARE_TOURS, genomes are closed tours whose edges are compared. Reads the genes, costs and
// ranks of generation g; returns integers, which do not depend on the number of threads. No random
// numbers.
#pragma once

#include "core/islands.cuh"
#include "core/marks.cuh"

namespace diversity {

constexpr int PAIRS = 8;      // maximum pairs of a better and a worse individual
constexpr int GENES = 256;    // maximum number of genes compared per genome
constexpr int ONE = 1 << 24;  // distance of keys or coordinates that differ by 1 or more

// The sample of an island: pairs of genomes, and the genes or cities to compare.
struct Sample {
    const Islands& all;
    const int me, individuals, pairs, n, genes;

    __device__ Sample(const Islands& all, int me)
        : all(all),
          me(me),
          individuals(min(2 * PAIRS, all.population)),
          pairs(individuals / 2),
          n(all.shape.n),
          genes(min(GENES, n)) {}

    __device__ const encoding::Gene* better(int pair) const { return genome(pair); }
    __device__ const encoding::Gene* worse(int pair) const { return genome(pair + pairs); }
    __device__ int place(int k) const { return int64_t(k) * n / genes; }

  private:
    __device__ const encoding::Gene* genome(int k) const {
        const int size = all.population;
        const int individual = all.order[me * size + int64_t(k) * size / individuals];
        return all.genes_of(all.row(all.island[me].generation, me, individual));
    }
};

#if GENES_ARE_TOURS

// Call `use` with the sample index of each sampled city, and its adjacent cities.
template <class Use>
__device__ void for_cities(const Sample& sample, const encoding::Gene* tour, Use use) {
    const int n = sample.n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int city = tour[i], k = (int64_t(city) * sample.genes + n - 1) / n;
        if (k < sample.genes && sample.place(k) == city)
            use(k, tour[i > 0 ? i - 1 : n - 1], tour[i < n - 1 ? i + 1 : 0]);
    }
}

// Return this thread's part of the number of edges at sampled cities that are in the worse tour of
// a pair but not in the better one; the same number are only in the better one.
__device__ int64_t distances(const Sample& sample) {
    __shared__ int32_t before[GENES], after[GENES];  // of sampled cities, in the better tour
    int64_t mine = 0;
    for (int pair = 0; pair < sample.pairs; ++pair) {
        for_cities(sample, sample.better(pair), [](int k, int left, int right) {
            before[k] = left;
            after[k] = right;
        });
        __syncthreads();
        for_cities(sample, sample.worse(pair), [&](int k, int left, int right) {
            mine += left != before[k] && left != after[k];
            mine += right != before[k] && right != after[k];
        });
        __syncthreads();
    }
    return mine;
}

#else

// Return the distance of two genes: the difference of keys or coordinates, the number of differing
// bits of a word, or for other integers whether they differ.
__device__ int64_t distance(double a, double b) {
    const double difference = a < b ? b - a : a - b;
    return difference < 1.0 ? int64_t(difference * ONE) : int64_t(ONE);  // also for NaN
}
__device__ int64_t distance(float a, float b) { return distance(double(a), double(b)); }
__device__ int64_t distance(uint32_t a, uint32_t b) { return __popc(a ^ b); }
template <class Gene>
__device__ int64_t distance(Gene a, Gene b) {
    return a != b;
}

// Return this thread's part of the sum of the distances of the genes of all pairs.
__device__ int64_t distances(const Sample& sample) {
    int64_t mine = 0;
    for (int i = threadIdx.x; i < sample.pairs * sample.genes; i += blockDim.x) {
        const int pair = i / sample.genes, gene = sample.place(i - pair * sample.genes);
        mine += distance(sample.better(pair)[gene], sample.worse(pair)[gene]);
    }
    return mine;
}

#endif

// Return the sum of the distances of all pairs of genomes in the sample of an island.
__device__ int64_t of_genes(const Islands& all, int me) {
    return block::sum(distances(Sample(all, me)));
}

// Return the number of distinct costs.
__device__ int64_t of_costs(const Islands& all, int me) {
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
