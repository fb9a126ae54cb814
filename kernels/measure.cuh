// Reduces each island to the few numbers that the host reads, one island per block. Reads the
// genes, costs and ranks of generation g; writes `measures`. No random numbers.
#pragma once

#include "core/costs.cuh"
#include "core/islands.cuh"
#include "core/priced.cuh"
#include "diversity.cuh"

struct Measure {
    int64_t best, worst, sum_high, sum_low, best_generation, ended, archived, archived_generation,
        best_row, calls, distance, distinct;
};

// Return the sum of real costs in index order, in units of 2^64.
__device__ double sum_of_reals(const int64_t* cost, int size) {
    double sum = 0.0;
    for (int i = 0; i < size && threadIdx.x == 0; ++i) {
        sum += real::value_of(priced::soft(cost[i])) * real::OF_SUMS;
    }
    return sum;
}

KERNEL(measure, (Islands all, Measure* measures)) {
    const int me = blockIdx.x, size = all.population;
    const Island island = all.island[me];
    const int64_t* const cost = all.cost + all.row(island.generation, me, 0);
    const int32_t* const order = all.order + me * size;
    // The sum may exceed 64 bits; the sums of the upper and lower halves do not.
    int64_t high = 0, low = 0, called = 0;
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        const int64_t own = marks::cost_of(priced::soft(cost[i]));
        high += own >> 32;
        low += uint32_t(own);
        called += all.calls[int64_t(me) * size + i];
    }
    const int64_t sum_low = block::sum(low);
    int64_t sum_high = block::sum(high);
    if (COSTS_REAL) sum_high = __double_as_longlong(sum_of_reals(cost, size));
    const int64_t calls = block::sum(called);
    const int64_t distance = diversity::of_genes(all, me), distinct = diversity::of_costs(all, me);
    if (threadIdx.x == 0) {
        measures[me] = {cost[order[0]],
                        cost[order[size - 1]],
                        sum_high,
                        sum_low,
                        island.best_generation,
                        island.ended,
                        island.archived,
                        island.archived_generation,
                        all.row(island.generation, me, order[0]),
                        calls,
                        distance,
                        distinct};
    }
}
