// The cost and the violation of a solution as sums of their changes by moves, for user functions
// that return both. Keeps both numbers in shared memory. No random numbers.
#pragma once

#include "problems/change.cuh"

namespace problem {

// Whether costs after moves are sums of changes, which have rounding errors for real costs.
constexpr bool ADDS_CHANGES = true;

class Sum {
  public:
    using By = Change;  // the return type of user functions
    static constexpr bool KEEPS = true;

    __device__ explicit Sum(Scratch& scratch) : totals_(scratch.take<Totals>(1)) {}

    // Start with a solution; called by all threads.
    __device__ void prepare(const Stored* row, int n, const Data& data) const {
        if (STATED_COOPERATIVE || threadIdx.x == 0) {
            const Totals totals = totals_of(solution_at(row, data), n, data);
            if (threadIdx.x == 0) *totals_ = totals;
        }
        __syncthreads();
    }

    // Return the compared cost after a change; called by one thread.
    __device__ int64_t after(const Change& by, int64_t, const Data& data) const {
        return totals_->after(by).compared(data._price);
    }

    // Apply a change, and return the compared cost after it; called by one thread.
    __device__ int64_t add(const Change& by, int64_t, const Data& data) const {
        *totals_ = totals_->after(by);
        return totals_->compared(data._price);
    }

  private:
    // Return both numbers of a solution; called by one thread or by all, like the user functions.
    __device__ static Totals totals_of(const Solution& solution, int n, const Data& data) {
        const int64_t cost = cost_of(user::cost(solution, n, data), data);
        const int64_t violation = user::of_violation::violation(solution, n, data);
        violation_of(violation, data);
        return {cost, violation};
    }

    Totals* const totals_;  // of the solution
};

}  // namespace problem
