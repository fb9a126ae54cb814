// The moves of each kind of solution, and which of them may be proposed (STATED_MOVES). No random
// numbers.
#pragma once

#include "moves.cuh"
#include "problems/solution.cuh"

namespace problem {

// The kinds of moves, and whether one may be proposed: the bits of STATED_MOVES.
enum MoveKind { SWAP, REVERSAL, INSERTION, ROTATION, FLIP, EXCHANGE, SETTING, STEP };
__device__ constexpr bool may_propose(int kind) { return STATED_MOVES >> kind & 1; }

#ifdef STATED_STEP
using Move = user::of_state::Step;  // from the header that includes this file
#elif SOLUTION_KIND == SOLUTION_ORDER
using Move = moves::Any;
#elif SOLUTION_KIND == SOLUTION_SUBSET
using Move = moves::Flips;
#elif SOLUTION_KIND == SOLUTION_CHOICES
using Move = moves::Choice;
#else
using Move = moves::Setting<Stored>;
#endif

}  // namespace problem
