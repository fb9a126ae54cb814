// Evaluates and applies the moves of a chain on a user-defined problem. The functions that the user
// provides determine which header of judges/ is included; each defines
//     constexpr bool ADDS_CHANGES;  // whether costs after moves are sums of changes
//     class Judge;
// The constructor of a judge takes scratch memory but must not access it. Its functions are
//     void prepare(const Stored* row) const;  // for moves of a solution; called by all threads
//     // Return the cost after a move; called by one thread.
//     int64_t cost_after(const Stored* row, const Move&, int64_t current) const;
//     // Apply a move, which leads to the cost `after`; return the cost. Called by all threads.
//     int64_t make(Stored* row, const Move&, int64_t current, int64_t after) const;
// The header that includes this file defines the user functions. No random numbers: the caller
// passes random words.
#pragma once

#if COSTS_PRICED && (defined(STATED_STATE) || defined(STATED_DELTA))
#include "problems/judges/priced_sum.cuh"
#elif defined(STATED_STATE) || defined(STATED_DELTA)
#include "problems/judges/sum.cuh"
#endif

#if defined(STATED_STEP)
#include "problems/judges/steps.cuh"
#elif defined(STATED_STATE)
#include "problems/judges/state.cuh"
#elif defined(STATED_DELTA)
#include "problems/judges/delta.cuh"
#else
#include "problems/judges/whole.cuh"
#endif

#ifdef STATED_CROSS
#include "problems/judges/cross.cuh"
#endif
