// Evaluates given solutions of a stated problem, without an algorithm: a program of its own, for
// checks. Reads rows of stored solutions; writes their costs, without violations, and these apart.
// No random numbers.
#include "core/core.cuh"
#include ISLANDS_PROBLEM

// A block evaluates one solution after another. Coordinates are not those of the unit box.
KERNEL(evaluate_solutions,
       (problem::Data data, problem::Stored* solutions, int32_t n, int32_t count, int64_t* costs)) {
#if SOLUTION_KIND == SOLUTION_VECTOR
    data.box_low = nullptr;
#endif
    for (int k = blockIdx.x; k < count; k += gridDim.x) {
        const problem::Stored* const first = solutions + int64_t(k) * problem::stored_length(n);
        const problem::Solution own = problem::solution_at(first, data);
        const int64_t cost = problem::plain_cost_in_block(own, n, data);
        if (threadIdx.x == 0) costs[k] = cost;
    }
}

#if COSTS_PRICED

// Write the violations, as the bits of doubles.
KERNEL(evaluate_violations,
       (problem::Data data, problem::Stored* solutions, int32_t n, int32_t count, int64_t* found)) {
#if SOLUTION_KIND == SOLUTION_VECTOR
    data.box_low = nullptr;
#endif
    for (int k = blockIdx.x; k < count; k += gridDim.x) {
        const problem::Stored* const first = solutions + int64_t(k) * problem::stored_length(n);
        const problem::Solution own = problem::solution_at(first, data);
        const int64_t bits = problem::violation_in_block(own, n, data);
        if (threadIdx.x == 0) found[k] = bits;
    }
}

#endif
