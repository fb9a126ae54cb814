// The improver or_opt: 2-opt and Or-opt on tours with neighbour lists, in nearly linear time in the
// number of cities. Reads and writes the order in place; returns its cost. No random numbers.
#pragma once

#include "improvers/base.cuh"
#include "tours/local_search.cuh"

namespace improver {

constexpr bool ACTIVE = true;

struct Workspace {
    int32_t* position;
    tours::SearchMemory memory;

    __device__ Workspace(Scratch& scratch, const Plan&, const void*, int n, const problem::Data&)
        : position(scratch.take<int32_t>(n)), memory(scratch, n) {}
};

__device__ int64_t improve(const Plan& plan, Scratch scratch, int32_t* order, int n,
                           const problem::Data& data, int64_t cost, const draw::Place&,
                           int64_t& calls) {
    if (n < 4) return cost;  // all tours have the same length
    const Workspace workspace(scratch, plan, nullptr, n, data);
    const tours::Tour<int32_t> tour{order, workspace.position, n, data};
    tour.locate();
    tours::LocalSearch search(tour, plan.near, workspace.memory);
    int64_t tried = 0;
    const int64_t gain = search.run(plan, plan.steps, true, tried);
    calls += block::sum(tried);
    return cost - block::sum(gain);
}

}  // namespace improver
