// Tempering of an assignment problem with sparse flows; cost changes are computed from the
// neighbours of two items. No random numbers here.
#pragma once

#include "problems/qap_network.cuh"
#include "tempering/plan.cuh"

namespace algorithm {

struct PairPlan {
    const int32_t* alike_places;  // [n]: see `Alike`, or null
    problem::Network network;
};

using Plan = PlanOf<Energies, PairPlan>;

}  // namespace algorithm

#include "tempering/by_energies.cuh"
#include "tempering/fixed_price.cuh"
#include "tempering/order_cross.cuh"
#include "tempering/pair_chain.cuh"
#include "tempering/sparse_deltas.cuh"

namespace tempering {

using Delta = SparseDeltas::Delta;
using Chain = PairChain<SparseDeltas>;

}  // namespace tempering
