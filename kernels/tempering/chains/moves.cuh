// Tempering of a user's own problem, by single moves. The problem's macros choose between whole
// headers here, not Python, as programs whose costs the host computes have none of them: a state
// makes children and judges moves only where it exists. No random numbers here.
#pragma once

#include "problems/solution.cuh"
#include "tempering/plan.cuh"

namespace algorithm {

// How far a replica is in a generation if others evaluate its moves: see waiting_replica.cuh.
struct Progress {
    enum Phase : int32_t { DONE, FIRST, SAMPLES, RENEWED, REPRICED, MOVES };

    int64_t current, best;  // costs
    int64_t next, end;      // numbers of proposals
    int64_t climbs, evaluated;
    int64_t looks, called;  // proposals that wait at once, and all evaluated ones
    int64_t phase;          // what waits for evaluation
};

struct MovePlan {
    Progress* progress;  // of each individual
    double* price;       // of each ladder: the factor of the price of violations, or null
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
using Chain = BaseChain;  // replicas do without one
}
#elif defined(STATED_WHOLE)
#include "tempering/whole_chain.cuh"
#else
#include "tempering/move_chain.cuh"
#endif
