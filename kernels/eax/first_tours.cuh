// The first tours of a population: greedy tours of edges with random lengths, improved by 2-opt and
// Or-opt. All threads of a block make one tour. Reads the problem and the neighbours; writes a tour
// and its positions. Random streams: GREEDY.
#pragma once

#include "eax/base.cuh"
#include "encodings/permutation.cuh"
#include "tours/greedy.cuh"
#include "tours/local_search.cuh"

namespace eax {

constexpr int FEWEST_CITIES = 4;  // of which there are several tours

// Make the individual of a slot, or only improve and evaluate it if it is given.
__device__ void make_first(const Archipelago& all, const problem::Data& data, const Plan& plan,
                           const improver::Plan& improving, Scratch scratch, int local, int slot,
                           int64_t generation, bool is_given) {
    const int n = all.shape.n;
    const int32_t row = all.row(generation, local, slot);
    const int64_t number = all.number(local, slot), pitch = all.shape.pitch;
    int32_t* const order = all.genes_of(row);
    const tours::SearchMemory memory(scratch, n);
    if (!is_given) {
        const tours::Paths paths(plan.work + number * WORK * pitch, pitch);
        const uint4 key = all.place(local, generation, slot).words(stream::GREEDY, 0);
        tours::Greedy greedy(data, plan.near, n, paths, key, plan.spread);
        if (!greedy.run(improving, order)) return;
    }
    const tours::Tour<Position> tour{order, plan.position + number * pitch, n, data};
    tour.locate();
    int64_t tried = 0;
    if (!is_given && n >= FEWEST_CITIES) {
        tours::LocalSearch(tour, plan.near, memory).run(improving, 0, false, tried);
    }
    __syncthreads();
    const int64_t cost = problem::cost(encoding::Order{order}, n, data);
    if (threadIdx.x == 0) all.cost[row] = cost;
    all.count(local, slot, 1);
}

}  // namespace eax
