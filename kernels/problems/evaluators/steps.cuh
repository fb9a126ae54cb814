// Evaluates user-defined steps, which the state proposes and applies. Reads the solution and data;
// keeps the state in shared memory. No random numbers: the caller passes random words.
#pragma once

#include "problems/evaluators/kept_state.cuh"
#include "problems/move_kinds.cuh"
#include "problems/random.cuh"

namespace problem {

class Evaluator {
  public:
    __device__ Evaluator(Scratch& scratch, int n, const Data& data)
        : n_(n),
          data_(data),
          state_(scratch, n, data),
          changed_(scratch.take<int64_t>(1)),
          sum_(scratch) {}

    __device__ void prepare(const Stored* row) const {
        sum_.prepare(row, n_, data_);
        state_.prepare(row);
    }

    // Propose a step of a solution; return false if there is none. Called by one thread.
    __device__ bool propose(const Stored* row, const uint4& words, Move& step) const {
        Random random(words);
        return user::of_state::propose(*state_, solution_at(row, data_), n_, data_, random, step);
    }

    __device__ int64_t cost_after(const Stored* row, const Move& step, int64_t current) const {
        const KeptState::State& state = *state_;
        const Solution solution = solution_at(row, data_);
        const Sum::By by = user::of_state::change(state, solution, n_, data_, step);
        return sum_.after(by, current, data_);
    }

    __device__ int64_t make(Stored* row, const Move& step, int64_t current, int64_t) const {
        if (STATED_COOPERATIVE || threadIdx.x == 0) {
            Changing changing{solution_at(row, data_), row, n_, data_._faults, false};
            const auto by = user::of_state::apply(*state_, changing, n_, data_, step);
            if (threadIdx.x == 0) *changed_ = sum_.add(by, current, data_);
        }
        __syncthreads();
        return *changed_;
    }

  private:
    const int n_;
    const Data& data_;
    const KeptState state_;
    int64_t* const changed_;
    const Sum sum_;
};

}  // namespace problem
