// Evaluates moves by full evaluations. Reads the solution and the data. No random numbers.
#pragma once

#include "problems/move_kinds.cuh"
#include "problems/moved.cuh"

namespace problem {

constexpr bool ADDS_CHANGES = false;

class Evaluator {
  public:
    __device__ Evaluator(Scratch&, int n, const Data& data) : n_(n), data_(data) {}

    __device__ void prepare(const Stored*) const {}

    __device__ int64_t cost_after(const Stored* row, const Move& move, int64_t) const {
        return cost_moved(row, n_, data_, move);
    }

    __device__ int64_t make(Stored* row, const Move& move, int64_t, int64_t after) const {
        move.apply(row);
        return after;
    }

  private:
    const int n_;
    const Data& data_;
};

}  // namespace problem
