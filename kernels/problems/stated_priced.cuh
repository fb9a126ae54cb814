// The cost by which solutions with priced violations are compared: see core/priced.cuh. Reports
// invalid violations. No random numbers.
#pragma once

#include "core/priced.cuh"
#include "problems/solution.cuh"

namespace problem {

// Convert a user's violation to a number, and report an invalid one.
template <class Value>
__device__ double violation_of(Value value, const Data& data) {
    const double violation = double(value);
    if (violation >= 0.0) return violation;
    report(data._faults, WRONG_VIOLATION, __double_as_longlong(violation));
    return 0.0;
}

// Return the compared cost of a solution; called by one thread or by all, like the user functions.
__device__ int64_t stated_cost(const Solution& solution, int n, const Data& data) {
    const int64_t cost = cost_of(user::cost(solution, n, data), data);
    const auto violation = user::of_violation::violation(solution, n, data);
    return priced::compared(cost, violation_of(violation, data), data._price);
}

// Return the cost of a solution without its violation; called by all threads of a block.
__device__ int64_t plain_cost_in_block(const Solution& solution, int n, const Data& data) {
    return in_block([&] { return cost_of(user::cost(solution, n, data), data); });
}

// Return the bits of the violation of a solution; called by all threads of a block.
__device__ int64_t violation_in_block(const Solution& solution, int n, const Data& data) {
    return in_block([&] {
        const auto violation = user::of_violation::violation(solution, n, data);
        return int64_t(__double_as_longlong(violation_of(violation, data)));
    });
}

}  // namespace problem
