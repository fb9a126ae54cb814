// Converts the moves of chains, which have one type for all kinds, to those that user functions
// take. Reads and returns moves. No random numbers.
#pragma once

#include "problems/move_kinds.cuh"
#include "problems/solution.cuh"

namespace problem {

// Call visit(move) with the move as passed to user functions.
#if SOLUTION_KIND == SOLUTION_ORDER
template <class Visit>
__device__ void as_stated(const Solution&, const Move& move, Visit visit) {
    if constexpr (may_propose(SWAP)) {
        if (move.kind == Move::SWAP) visit(moves::Swap{move.u, move.v});
    }
    if constexpr (may_propose(REVERSAL)) {
        if (move.kind == Move::REVERSAL) visit(moves::Reversal{move.u, move.v});
    }
    if constexpr (may_propose(INSERTION)) {
        if (move.kind == Move::INSERTION) visit(moves::Insertion{move.u, move.v});
    }
}
#elif SOLUTION_KIND == SOLUTION_SUBSET
template <class Visit>
__device__ void as_stated(const Solution& s, const Move& move, Visit visit) {
    if constexpr (may_propose(FLIP)) {
        if (move.other == Move::NONE) visit(moves::Flip{move.one});
    }
    if constexpr (may_propose(EXCHANGE)) {
        if (move.other != Move::NONE) {
            visit(s[move.one] ? moves::Exchange{move.one, move.other}
                              : moves::Exchange{move.other, move.one});
        }
    }
}
#elif SOLUTION_KIND == SOLUTION_CHOICES
template <class Visit>
__device__ void as_stated(const Solution&, const Move& move, Visit visit) {
    if constexpr (may_propose(SETTING)) {
        if (move.other == Move::NONE) visit(moves::Setting<Stored>{move.item, move.value});
    }
    if constexpr (may_propose(SWAP)) {
        if (move.exchanges()) visit(moves::Swap{move.item, move.other});
    }
}
#else
template <class Visit>
__device__ void as_stated(const Solution& s, const Move& move, Visit visit) {
    if constexpr (may_propose(SETTING)) {
        visit(moves::Setting<Stored>{move.item, s.of(move.item, move.value)});
    }
}
#endif

}  // namespace problem
