// Evaluates moves by the user's state, which each applied move updates. Reads the solution and the
// data; keeps the state in shared memory. No random numbers.
#pragma once

#include "problems/evaluators/kept_state.cuh"
#include "problems/stated_moves.cuh"

namespace problem {

class Evaluator {
  public:
    __device__ Evaluator(Scratch& scratch, int n, const Data& data)
        : n_(n), data_(data), state_(scratch, n, data), sum_(scratch) {}

    __device__ void prepare(const Stored* row) const {
        sum_.prepare(row, n_, data_);
        state_.prepare(row);
    }

    __device__ int64_t cost_after(const Stored* row, const Move& move, int64_t current) const {
        return sum_.after(change_by(row, move), current, data_);
    }

    __device__ int64_t make(Stored* row, const Move& move, int64_t current, int64_t after) const {
        if (Sum::KEEPS) {
            if (threadIdx.x == 0) sum_.add(change_by(row, move), current, data_);
            __syncthreads();
        }
        if (STATED_COOPERATIVE || threadIdx.x == 0) {
            const Solution solution = solution_at(row, data_);
            as_stated(solution, move, Follow{*this, solution});
        }
        __syncthreads();
        move.apply(row);
        return after;
    }

  private:
    // Structs instead of lambdas: some versions of NVRTC treat generic lambdas as host functions.
    struct Stated {
        const Evaluator& evaluator;
        const Solution& solution;
        Sum::By& by;

        template <class Each>
        __device__ void operator()(const Each& move) const {
            const KeptState::State& state = *evaluator.state_;
            by = user::of_state::change(state, solution, evaluator.n_, evaluator.data_, move);
        }
    };

    struct Follow {
        const Evaluator& evaluator;
        const Solution& solution;

        template <class Each>
        __device__ void operator()(const Each& move) const {
            user::of_state::apply(*evaluator.state_, solution, evaluator.n_, evaluator.data_, move);
        }
    };

    // Return the change by a move from the user's function; called by one thread.
    __device__ Sum::By change_by(const Stored* row, const Move& move) const {
        Sum::By by = Sum::By();
        const Solution solution = solution_at(row, data_);
        as_stated(solution, move, Stated{*this, solution, by});
        return by;
    }

    const int n_;
    const Data& data_;
    const KeptState state_;
    const Sum sum_;
};

}  // namespace problem
