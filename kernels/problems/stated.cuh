// The cost of a user-defined problem: calls the user function, in all threads of a block
// (STATED_COOPERATIVE) or in one. The header that includes this file defines `struct Data` and, in
// namespace `user`, the user functions, which determine the headers to include. Reads a solution
// and the data; returns its cost, and reports invalid values of these functions. No random numbers.
#pragma once

#include "moves.cuh"
#include "problems/solution.cuh"
#include "problems/stated_costs.cuh"

namespace problem {

// Convert a user's cost to a minimised one.
template <class Value>
__device__ int64_t cost_of(Value value, const Data& data) {
    return minimised(value, data._faults);
}

// Compute a value in one thread and return it to all threads of the block.
template <class Compute>
__device__ int64_t by_one_thread(Compute compute) {
    __shared__ int64_t value;
    __syncthreads();
    if (threadIdx.x == 0) value = compute();
    __syncthreads();
    return value;
}

// Compute a value by user functions, called by one thread or by all; return it to all.
template <class Compute>
__device__ int64_t in_block(Compute compute) {
    if constexpr (STATED_COOPERATIVE != 0) {
        return compute();
    } else {
        return by_one_thread(compute);
    }
}

}  // namespace problem

#if COSTS_PRICED
#include "problems/stated_priced.cuh"
#else
#include "problems/stated_plain.cuh"
#endif

namespace problem {

// Return the cost of a solution; called by one thread, unless all threads evaluate together.
__device__ int64_t cost_of_one(const Stored* first, int n, const Data& data) {
    return stated_cost(solution_at(first, data), n, data);
}

// Return the cost of a solution; called by all threads of a block.
__device__ int64_t cost_in_block(const Solution& solution, int n, const Data& data) {
    return in_block([&] { return stated_cost(solution, n, data); });
}

// Return the cost of a solution that an improver has changed.
__device__ int64_t cost_after(const Stored* solution, int n, const Data& data) {
    return cost_in_block(solution_at(solution, data), n, data);
}

}  // namespace problem

#ifdef PROBLEM_EVALUATES
#include "problems/stated_corrected.cuh"
#else
#include "problems/stated_whole.cuh"
#endif

#ifndef ISLANDS_TILED  // tiles are evaluated without local search
#if defined(STATED_DELTA) && !COSTS_PRICED
#include "problems/stated_delta.cuh"
#elif defined(STATED_MOVED)
#include "problems/moved_costs.cuh"
#endif
#if STATED_MOVES && !defined(STATED_WHOLE)
#include "problems/evaluator.cuh"
#endif
#endif
