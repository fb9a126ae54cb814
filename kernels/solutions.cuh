// Evaluates given solutions of a user-defined problem, without an algorithm: a separate program for
// checks. Reads rows of stored solutions; writes their costs without violations, and the violations
// separately. No random numbers.
#include "core/core.cuh"
#include ISLANDS_PROBLEM

namespace solutions {

// Store the results of compute(solution), called by all threads. A block processes the solutions
// one after another.
template <class Compute>
__device__ void compute_each(problem::Data data, const problem::Stored* solutions, int n, int count,
                             int64_t* results, Compute compute) {
#if SOLUTION_KIND == SOLUTION_VECTOR
    data.box_low = nullptr;  // coordinates are given unscaled
#endif
    for (int k = blockIdx.x; k < count; k += gridDim.x) {
        const problem::Stored* const first = solutions + int64_t(k) * problem::stored_length(n);
        const int64_t result = compute(problem::solution_at(first, data), data);
        if (threadIdx.x == 0) results[k] = result;
    }
}

}  // namespace solutions

KERNEL(evaluate_solutions,
       (problem::Data data, problem::Stored* rows, int32_t n, int32_t count, int64_t* costs)) {
    solutions::compute_each(data, rows, n, count, costs,
                            [&](const problem::Solution& solution, const problem::Data& unscaled) {
                                return problem::plain_cost_in_block(solution, n, unscaled);
                            });
}

#if COSTS_PRICED

// Write the violations, as the bits of doubles.
KERNEL(evaluate_violations,
       (problem::Data data, problem::Stored* rows, int32_t n, int32_t count, int64_t* violations)) {
    solutions::compute_each(data, rows, n, count, violations,
                            [&](const problem::Solution& solution, const problem::Data& unscaled) {
                                return problem::violation_in_block(solution, n, unscaled);
                            });
}

#endif
