// Evaluates given solutions of a stated problem, without an algorithm: a program of its own, for
// checks. Reads rows of stored solutions; writes their costs. No random numbers.
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
        const int64_t cost = problem::cost_in_block(problem::solution_at(first, data), n, data);
        if (threadIdx.x == 0) costs[k] = cost;
    }
}
