// Judges the moves of a chain on a user's own problem, and makes them. The functions that the user
// has written choose one of the headers in judges/, each of which defines
//     constexpr bool ADDS_CHANGES;  // whether costs after moves are sums of changes
//     class Judge;
// A judge takes scratch memory in its constructor, but must not access it, and has
//     void prepare(const Stored* row) const;  // for moves of a solution; called by all threads
//     // Return the cost after a move; called by one thread.
//     int64_t cost_after(const Stored* row, const Move&, int64_t current) const;
//     // Make a move, after which the solution costs `after`; return the cost. For all threads.
//     int64_t make(Stored* row, const Move&, int64_t current, int64_t after) const;
// The header that includes this file defines the functions of the user. No random numbers: the
// caller passes random words.
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
