// The cost change of each move of an order. If it is computed from two costs (STATED_MOVED), the
// initial cost is computed once for all moves. Reads the order and the problem's data; returns
// changes. No random numbers.
#pragma once

#include "core/core.cuh"
#include "moves.cuh"

namespace improver {

class Changes {
  public:
    __device__ Changes(const int32_t* order, int n, const problem::Data& data)
        : order_(order), n_(n), data_(data) {}

    // Prepare for the moves of the current order.
    __device__ void begin() {
#ifdef STATED_MOVED
        before_ = problem::cost_before(order_, n_, data_);
#endif
    }

    template <class Move>
    __device__ int64_t by(const Move& move) const {
#ifdef STATED_MOVED
        return problem::delta(order_, n_, data_, move, before_);
#else
        return problem::delta(order_, n_, data_, move);
#endif
    }

  private:
    const int32_t* const order_;
    const int n_;
    const problem::Data& data_;
#ifdef STATED_MOVED
    int64_t before_ = 0;
#endif
};

}  // namespace improver
