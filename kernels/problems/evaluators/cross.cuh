// Crossover by the user's state. Reads two solutions and the data; writes the child, and keeps the
// state in shared memory. No random numbers: the caller passes random words.
#pragma once

#include "problems/evaluators/kept_state.cuh"
#include "problems/random.cuh"
#include "problems/valid_order.cuh"

namespace problem {

class StateCross {
  public:
    __device__ StateCross(Scratch& scratch, int n, const Data& data)
        : n_(n), data_(data), state_(scratch, n, data) {}

    // Replace a solution by a child of itself and another one; called by all threads.
    __device__ void make_child(Stored* row, const Stored* other, const uint4& words) const {
        state_.reset();
        if (STATED_COOPERATIVE || threadIdx.x == 0) {
            Changing child{solution_at(row, data_), row, n_, data_._faults, false};
            Random random(words);
            const Solution mate = solution_at(other, data_);
            user::of_state::cross(*state_, child, mate, n_, data_, random);
        }
        __syncthreads();
        require_order(row, n_, data_);
    }

  private:
    const int n_;
    const Data& data_;
    const KeptState state_;
};

}  // namespace problem
