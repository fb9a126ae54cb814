// Evaluates and applies the moves of a chain on a user-defined problem. The functions that the user
// provides determine which header of evaluators/ is included; each defines
//     constexpr bool ADDS_CHANGES;  // whether costs after moves are sums of changes
//     class Evaluator;
// The constructor of an evaluator takes scratch memory but must not access it. Its functions are
//     void prepare(const Stored* row) const;  // for moves of a solution; called by all threads
//     // Return the cost after a move; called by one thread.
//     int64_t cost_after(const Stored* row, const Move&, int64_t current) const;
//     // Apply a move, which leads to the cost `after`; return the cost. Called by all threads.
//     int64_t make(Stored* row, const Move&, int64_t current, int64_t after) const;
// The header that includes this file defines the user functions. No random numbers: the caller
// passes random words.
#pragma once

#if COSTS_PRICED && (defined(STATED_STATE) || defined(STATED_DELTA))
#include "problems/evaluators/priced_sum.cuh"
#elif defined(STATED_STATE) || defined(STATED_DELTA)
#include "problems/evaluators/sum.cuh"
#endif

#if defined(STATED_STEP)
#include "problems/evaluators/steps.cuh"
#elif defined(STATED_STATE)
#include "problems/evaluators/state.cuh"
#elif defined(STATED_DELTA)
#include "problems/evaluators/delta.cuh"
#else
#include "problems/evaluators/whole.cuh"
#endif

#ifdef STATED_CROSS
#include "problems/evaluators/cross.cuh"
#endif
