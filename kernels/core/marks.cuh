// Marked costs, for problems that penalise infeasible solutions (COSTS_MARKED): twice the cost,
// with the lowest bit set for an infeasible solution. Reads and returns single costs.
// No random numbers.
#pragma once

#include "core/compiler.cuh"

#ifndef COSTS_MARKED
#define COSTS_MARKED 0
#endif

namespace marks {

__device__ int64_t feasible(int64_t cost) { return COSTS_MARKED ? 2 * cost : cost; }
__device__ int64_t infeasible(int64_t cost) { return 2 * cost + 1; }

__device__ bool is_feasible(int64_t cost) { return !COSTS_MARKED || cost % 2 == 0; }

// Return the cost without its mark.
__device__ int64_t cost_of(int64_t marked) { return COSTS_MARKED ? marked >> 1 : marked; }

}  // namespace marks
