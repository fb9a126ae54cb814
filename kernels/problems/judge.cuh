// Judges the moves of a chain on a user's own problem: by the state of the user (STATED_STATE),
// which follows the moves; by the user's change of the cost (STATED_DELTA); or by whole costs. The
// header that includes this file defines the functions of the user. Reads the solution and the
// data; keeps the state in block memory. No random numbers.
#pragma once

#include "core/costs.cuh"
#include "moves.cuh"
#include "problems/moved.cuh"
#include "problems/solution.cuh"

namespace problem {

// Whether costs after moves are sums of changes, which for real costs have errors of rounding.
#if defined(STATED_STATE) || defined(STATED_DELTA)
constexpr bool ADDS_CHANGES = true;
#else
constexpr bool ADDS_CHANGES = false;
#endif

// Whether the user's functions take a kind of move: the bits of STATED_MOVES.
enum MoveKind { SWAP, REVERSAL, INSERTION, ROTATION, FLIP, EXCHANGE, SETTING };
__device__ constexpr bool takes(int kind) { return STATED_MOVES >> kind & 1; }

// Call visit(move) with the move as the user's functions receive it.
#if SOLUTION_KIND == SOLUTION_ORDER
using Move = moves::Any;

template <class Visit>
__device__ void as_stated(const Solution&, const Move& move, Visit visit) {
    if constexpr (takes(SWAP)) {
        if (move.kind == Move::SWAP) visit(moves::Swap{move.u, move.v});
    }
    if constexpr (takes(REVERSAL)) {
        if (move.kind == Move::REVERSAL) visit(moves::Reversal{move.u, move.v});
    }
    if constexpr (takes(INSERTION)) {
        if (move.kind == Move::INSERTION) visit(moves::Insertion{move.u, move.v});
    }
}
#elif SOLUTION_KIND == SOLUTION_SUBSET
using Move = moves::Flips;

template <class Visit>
__device__ void as_stated(const Solution& s, const Move& move, Visit visit) {
    if constexpr (takes(FLIP)) {
        if (move.other == Move::NONE) visit(moves::Flip{move.one});
    }
    if constexpr (takes(EXCHANGE)) {
        if (move.other != Move::NONE) {
            visit(s[move.one] ? moves::Exchange{move.one, move.other}
                              : moves::Exchange{move.other, move.one});
        }
    }
}
#else
using Move = moves::Setting<Stored>;

template <class Visit>
__device__ void as_stated(const Solution& s, const Move& move, Visit visit) {
    if constexpr (takes(SETTING)) {
        visit(moves::Setting<Stored>{move.item, s.of(move.item, move.value)});
    }
}
#endif

class Judge {
  public:
    __device__ Judge(Scratch& scratch, int n, const Data& data)
        : n_(n),
          data_(data)
#ifdef STATED_STATE
          ,
          state_(scratch.take<State>(1)),
          made_(scratch, n, data)
#endif
    {
    }

    // Prepare for moves of a solution; called by all threads.
    __device__ void prepare(const Stored* row) const {
#ifdef STATED_STATE
        if (threadIdx.x == 0) *state_ = made_;
        __syncthreads();
        if (STATED_COOPERATIVE || threadIdx.x == 0) {
            user::of_state::prepare(*state_, solution_at(row, data_), n_, data_);
        }
        __syncthreads();
#endif
    }

    // Return the cost after a move; called by one thread.
    __device__ int64_t cost_after(const Stored* row, const Move& move, int64_t current) const {
#if defined(STATED_STATE) || defined(STATED_DELTA)
        int64_t change = 0;
        const Solution solution = solution_at(row, data_);
        as_stated(solution, move, Change{*this, row, solution, change});
        return real::changed(current, change);
#else
        return cost_moved(row, n_, data_, move);
#endif
    }

    // Follow a move of a solution, which has not been made yet; called by all threads.
    __device__ void apply(const Stored* row, const Move& move) const {
#ifdef STATED_STATE
        if (STATED_COOPERATIVE || threadIdx.x == 0) {
            const Solution solution = solution_at(row, data_);
            as_stated(solution, move, Follow{*this, solution});
        }
        __syncthreads();
#endif
    }

  private:
    // Structs, as some versions of NVRTC take generic lambdas for functions of the host.
    struct Change {
        const Judge& judge;
        const Stored* row;
        const Solution& solution;
        int64_t& change;

        template <class Each>
        __device__ void operator()(const Each& move) const {
#if defined(STATED_STATE)
            const State& state = *judge.state_;
            change =
                minimised(user::of_state::change(state, solution, judge.n_, judge.data_, move));
#elif defined(STATED_DELTA)
            change = delta(row, judge.n_, judge.data_, move);
#endif
        }
    };

    const int n_;
    const Data& data_;
#ifdef STATED_STATE
    using State = user::of_state::State;

    struct Follow {
        const Judge& judge;
        const Solution& solution;

        template <class Each>
        __device__ void operator()(const Each& move) const {
            user::of_state::apply(*judge.state_, solution, judge.n_, judge.data_, move);
        }
    };

    State* const state_;  // in block memory, so that all threads have the same
    const State made_;
#endif
};

}  // namespace problem
