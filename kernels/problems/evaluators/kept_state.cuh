// The user's state in shared memory, shared by all threads. Reads a solution and the data; writes
// the state. No random numbers.
#pragma once

#include "problems/solution.cuh"

namespace problem {

class KeptState {
  public:
    using State = user::of_state::State;

    __device__ KeptState(Scratch& scratch, int n, const Data& data)
        : n_(n), data_(data), state_(scratch.take<State>(1)), unprepared_(scratch, n, data) {}

    // Replace the state by a new one that has memory but is not prepared; called by all threads.
    __device__ void reset() const {
        if (threadIdx.x == 0) *state_ = unprepared_;
        __syncthreads();
    }

    // Prepare the state for a solution; called by all threads.
    __device__ void prepare(const Stored* row) const {
        reset();
        if (STATED_COOPERATIVE || threadIdx.x == 0) {
            user::of_state::prepare(*state_, solution_at(row, data_), n_, data_);
        }
        __syncthreads();
    }

    __device__ State& operator*() const { return *state_; }

  private:
    const int n_;
    const Data& data_;
    State* const state_;
    const State unprepared_;
};

}  // namespace problem
