// The rules of chains of single moves, independent of whether kernels (move_chain.cuh and
// whole_chain.cuh) or the host between two launches (waiting_replica.cuh) evaluate the moves.
// Sharing these functions guarantees bit-identical results. Reads and returns costs.
// Random streams: PROPOSALS.
#pragma once

#include "tempering/acceptance.cuh"
#include "tempering/base.cuh"

namespace tempering {

using Delta = int64_t;

namespace rule {

// Return the random words of a proposal: three for the move, and one for its acceptance.
__device__ uint4 words_of(const draw::Place& place, int64_t number) {
    return place.words<draw::FEWEST_ROUNDS>(stream::PROPOSALS, number);
}

struct Decision {
    bool accepts, climbs;
};

// Return whether a move to another cost is accepted, and whether it raises the cost.
__device__ Decision decide(int64_t cost, int64_t current, const Acceptance<Delta>& acceptance,
                           uint32_t word) {
    const bool climbs = priced::soft(cost) > priced::soft(current);
    return {!climbs || acceptance.accepts(difference(cost, current), word), climbs};
}

// Return the cost change of a sample, or zero for a move to or from infinity.
__device__ double change(int64_t cost, int64_t before) {
    const double by = fabs(difference(cost, before));
    return by < 1e300 ? by : 0.0;
}

// Return how many of the `next` evaluated proposals count: those before `end`, which acceptances
// bring forward, but at least one.
__device__ int64_t proposed(int64_t next, int64_t end) { return min(next, max(end, int64_t(1))); }

}  // namespace rule
}  // namespace tempering
