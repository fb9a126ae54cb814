// Stores the costs that a Python function has returned for all children. Writes `outside.cost`. No
// random numbers.
#pragma once

#include "core/islands.cuh"

KERNEL(take_costs, (Islands all, problem::Data data, problem::Returned returned)) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < returned.count; i += gridDim.x * blockDim.x) {
        all.outside.cost[returned.place[i]] = problem::minimised(returned.cost[i], data._faults);
    }
}
