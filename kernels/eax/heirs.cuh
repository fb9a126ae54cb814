// The heir of a converged population: its best tour, which takes the first slot of the island's
// next population; the other tours are new. If MOST_FAILURES consecutive populations have not
// improved on their heirs, the next heir sleeps: it is not part of any pair until the new tours
// have converged without it, and then mates with them. Its edges count in the frequencies
// nevertheless, and it may emigrate. Reads the costs and tours of a generation; writes the heir to
// the next one. No random numbers.
#pragma once

#include "eax/base.cuh"
#include "tours/tour.cuh"

namespace eax {

constexpr int HEIR = 0;  // the slot of the heir
constexpr int64_t MOST_FAILURES = 2;

// Copy the best tour of an island to the next generation, using all threads.
__device__ void write_heir(const Islands& all, const Plan& plan, const problem::Data& data,
                           int local) {
    const int64_t pitch = all.shape.pitch, generation = all.island[local].generation;
    const int32_t first = all.row(generation, local, 0), row = all.row(generation + 1, local, HEIR);
    block::Ranked best{NO_COST, 0};
    for (int i = threadIdx.x; i < all.population; i += blockDim.x) {
        if (all.cost[first + i] < best.value) best = {all.cost[first + i], uint32_t(i)};
    }
    best = block::argmin(best);
    int32_t* const order = all.genes_of(row);
    copy_row(order, all.genes_of(first + best.index), pitch);
    if (threadIdx.x == 0) all.cost[row] = best.value;
    __syncthreads();
    Position* const position = plan.position + all.number(local, HEIR) * pitch;
    tours::Tour<Position>{order, position, all.shape.n, data}.locate();
}

}  // namespace eax
