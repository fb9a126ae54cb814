// Tempering of an assignment problem with stored deltas of exchanges. No random numbers here.
#pragma once

#include "tempering/plan.cuh"

namespace algorithm {

struct PairPlan {
    const int32_t* alike_places;  // [n]: see `Alike`, or null
    // Per individual, for many items only, otherwise null: the deltas of its state, and the
    // generation that they belong to. They may be missing.
    char* deltas;  // [deltas_bytes]
    int64_t deltas_bytes;
    int64_t* deltas_of;
};

using Plan = PlanOf<Energies, PairPlan>;

}  // namespace algorithm

#include "tempering/by_energies.cuh"
#include "tempering/fixed_price.cuh"
#include "tempering/order_cross.cuh"
#include "tempering/pair_chain.cuh"
#include "tempering/stored_deltas.cuh"

namespace tempering {

using Delta = StoredDeltas::Delta;
using Chain = PairChain<StoredDeltas>;

}  // namespace tempering
