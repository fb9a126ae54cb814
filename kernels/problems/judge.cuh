// Judges the moves of a chain on a user's own problem, and makes them: by the state of the user
// (STATED_STATE), which follows the moves; by the user's change of the cost (STATED_DELTA); or by
// whole costs. With STATED_STEP, moves are steps of the user's own, which the state proposes; with
// STATED_CROSS, the state also makes children. The header that includes this file defines the
// functions of the user. Reads the solution and the data; keeps the state in block memory. No
// random numbers: the caller passes random words.
#pragma once

#include "core/costs.cuh"
#include "problems/move_kinds.cuh"
#include "problems/moved.cuh"
#include "problems/random.cuh"
#include "problems/solution.cuh"

namespace problem {

// Whether costs after moves are sums of changes, which for real costs have errors of rounding.
#if defined(STATED_STATE) || defined(STATED_DELTA)
#define JUDGE_ADDS
#endif
#if defined(JUDGE_ADDS) && COSTS_PRICED
#define JUDGE_TOTALS
#endif
#ifdef JUDGE_ADDS
constexpr bool ADDS_CHANGES = true;
#else
constexpr bool ADDS_CHANGES = false;
#endif

// Call visit(move) with the move as the user's functions receive it.
#ifdef STATED_STEP
template <class Visit>
__device__ void as_stated(const Solution&, const Move& move, Visit visit) {
    visit(move);
}
#elif SOLUTION_KIND == SOLUTION_ORDER
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
#ifdef STATED_STEP
          ,
          changed_(scratch.take<int64_t>(1))
#endif
#ifdef JUDGE_TOTALS
          ,
          totals_(scratch.take<Totals>(1))
#endif
    {
    }

    // Prepare for moves of a solution; called by all threads.
    __device__ void prepare(const Stored* row) const {
#ifdef JUDGE_TOTALS
        if (STATED_COOPERATIVE || threadIdx.x == 0) {
            const Totals own = totals_of(solution_at(row, data_), n_, data_);
            if (threadIdx.x == 0) *totals_ = own;
        }
        __syncthreads();
#endif
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
#if defined(JUDGE_TOTALS)
        return totals_->after(change_by(row, move)).compared(data_._price);
#elif defined(JUDGE_ADDS)
        return real::changed(current, minimised(change_by(row, move)));
#else
        return cost_moved(row, n_, data_, move);
#endif
    }

    // Make a move of a solution, after which it costs `after`, from the current cost. Returns the
    // cost; called by all threads.
    __device__ int64_t make(Stored* row, const Move& move, int64_t current, int64_t after) const {
#ifdef STATED_STEP
        if (STATED_COOPERATIVE || threadIdx.x == 0) {
            Changing own{solution_at(row, data_), row, n_, data_._faults, false};
            const auto by = user::of_state::apply(*state_, own, n_, data_, move);
#ifdef JUDGE_TOTALS
            if (threadIdx.x == 0) {
                *totals_ = totals_->after(by);
                *changed_ = totals_->compared(data_._price);
            }
#else
            if (threadIdx.x == 0) *changed_ = real::changed(current, minimised(by));
#endif
        }
        __syncthreads();
        return *changed_;
#else
#ifdef JUDGE_TOTALS
        if (threadIdx.x == 0) *totals_ = totals_->after(change_by(row, move));
        __syncthreads();
#endif
#ifdef STATED_STATE
        if (STATED_COOPERATIVE || threadIdx.x == 0) {
            const Solution solution = solution_at(row, data_);
            as_stated(solution, move, Follow{*this, solution});
        }
        __syncthreads();
#endif
        move.apply(row);
        return after;
#endif
    }

#ifdef STATED_STEP
    // Propose a step of a solution; returns false if there is none. Called by one thread.
    __device__ bool propose(const Stored* row, const uint4& words, Move& step) const {
        Random random(words);
        return user::of_state::propose(*state_, solution_at(row, data_), n_, data_, random, step);
    }
#endif

#ifdef STATED_CROSS
    // Make a solution a child of itself and another one; called by all threads.
    __device__ void make_child(Stored* row, const Stored* other, const uint4& words) const {
        if (threadIdx.x == 0) *state_ = made_;  // its memory, which nobody has prepared
        __syncthreads();
        if (STATED_COOPERATIVE || threadIdx.x == 0) {
            Changing child{solution_at(row, data_), row, n_, data_._faults, false};
            Random random(words);
            const Solution mate = solution_at(other, data_);
            user::of_state::cross(*state_, child, mate, n_, data_, random);
        }
        __syncthreads();
        require_order(row, n_, data_);
    }
#endif

  private:
#ifdef JUDGE_ADDS
#ifdef JUDGE_TOTALS
    using By = Change;
#else
    using By = Cost;
#endif

    // Return the change by a move as the user states it; called by one thread.
    __device__ By change_by(const Stored* row, const Move& move) const {
        By by = By();
        const Solution solution = solution_at(row, data_);
        as_stated(solution, move, Stated{*this, solution, by});
        return by;
    }

    // Structs, as some versions of NVRTC take generic lambdas for functions of the host.
    struct Stated {
        const Judge& judge;
        const Solution& solution;
        By& by;

        template <class Each>
        __device__ void operator()(const Each& move) const {
#if defined(STATED_STATE)
            const State& state = *judge.state_;
            by = user::of_state::change(state, solution, judge.n_, judge.data_, move);
#else
            by = user::of_delta::delta(solution, judge.n_, judge.data_, move);
#endif
        }
    };
#endif

    const int n_;
    const Data& data_;
#ifdef STATED_STATE
    using State = user::of_state::State;

#ifdef STATED_STEP
    State* const state_;  // in block memory, so that all threads have the same
    const State made_;
    int64_t* const changed_;
#else
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
#endif
#ifdef JUDGE_TOTALS
    Totals* const totals_;  // of the solution, in block memory
#endif
};

}  // namespace problem
