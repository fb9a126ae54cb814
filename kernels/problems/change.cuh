// The change due to a move, for problems with violations: a user's delta or state returns the
// changes of both cost and violation. Accesses no memory. No random numbers.
#pragma once

#include "problems/stated_costs.cuh"
#include "problems/whole.cuh"

namespace problem {

// The violation is an integer, as sums of its changes must be exact.
struct Change {
#if COSTS_REAL
    double cost;
#else
    long long cost;
#endif
    long long violation;

    __device__ Change() : cost(0), violation(0) {}
    template <class Number, class Whole>
    __device__ Change(Number cost, Whole violation) : cost(cost), violation(violation) {
        static_assert(COSTS_REAL || IS_WHOLE<Number>,
                      "the cost of a Change is a real number, but cost returns long long");
        static_assert(IS_WHOLE<Whole>, "the violation of a Change must be a whole number");
    }
};

// The minimised cost of a solution, and its violation.
struct Totals {
    int64_t cost, violation;

    __device__ Totals after(const Change& by) const {
        return {real::changed(cost, minimised(by.cost)),
                max(int64_t(0), violation + int64_t(by.violation))};
    }

    __device__ int64_t compared(double price) const {
        return priced::compared(cost, double(violation), price);
    }
};

}  // namespace problem
