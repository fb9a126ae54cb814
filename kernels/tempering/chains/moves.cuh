// Tempering of a user-defined problem by single moves. The macros of the problem, not Python,
// select the headers: programs whose costs the host computes have no user state, and define none of
// these macros. No random numbers here.
#pragma once

#include "problems/solution.cuh"
#include "tempering/plan.cuh"

namespace algorithm {

// The progress of a replica within a generation if the host evaluates its moves: see
// waiting_replica.cuh.
struct Progress {
    enum Phase : int32_t { DONE, FIRST, SAMPLES, RENEWED, REPRICED, MOVES };

    int64_t current, best;  // costs
    int64_t next, end;      // proposal numbers
    int64_t climbs, evaluated;
    int64_t looks, called;  // simultaneous waiting proposals, and all evaluated ones
    int64_t phase;          // what is waiting for evaluation
};

struct MovePlan {
    Progress* progress;  // per individual
    double* price;       // per ladder: the factor of the violation price, or null
};

using Plan = PlanOf<Climbs, MovePlan>;

}  // namespace algorithm

#include TEMPERING_PRICE

#include "tempering/by_climbs.cuh"

#ifdef STATED_CROSS
#include "tempering/state_cross.cuh"
#elif SOLUTION_KIND == SOLUTION_ORDER
#include "tempering/order_cross.cuh"
#else
#include "tempering/mixed_cross.cuh"
#endif

#ifdef ISLANDS_OUTSIDE
namespace tempering {
using Chain = BaseChain;  // without run(), as the host evaluates moves
}
#elif defined(STATED_WHOLE)
#include "tempering/whole_chain.cuh"
#else
#include "tempering/move_chain.cuh"
#endif
