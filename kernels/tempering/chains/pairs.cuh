// Tempering of an assignment problem with stored deltas of exchanges. No random numbers here.
#pragma once

#include "tempering/plan.cuh"
#ifdef NETWORK_NUMBER
#include "problems/qap_network.cuh"
#endif

namespace algorithm {

struct PairPlan {
    const int32_t* alike_places;  // [n]: see `Alike`, or null
    // Per individual, or null if there are few items: the deltas of its state, and the generation
    // to which they belong; -1: no deltas are stored.
    char* deltas;  // [deltas_bytes]
    int64_t deltas_bytes;
    int64_t* deltas_of;
#ifdef NETWORK_NUMBER
    problem::Network network;
#endif
};

using Plan = PlanOf<Energies, PairPlan>;

}  // namespace algorithm

#include "tempering/by_energies.cuh"
#include "tempering/fixed_price.cuh"
#include "tempering/order_cross.cuh"
#include "tempering/pair_chain.cuh"
// With sparse flows, a CPU updates a few rows of deltas. A GPU updates all deltas at once, as the
// fields of items would take twice as much shared memory.
#if defined(NETWORK_NUMBER) && !defined(__CUDACC__)
#include "tempering/network_deltas.hpp"
namespace tempering {
using Deltas = NetworkDeltas;
}
#else
#include "tempering/stored_deltas.cuh"
namespace tempering {
using Deltas = StoredDeltas;
}
#endif

namespace tempering {

using Delta = Deltas::Delta;
using Chain = PairChain<Deltas>;

}  // namespace tempering
