// Declares what the Markov chain of a replica takes and returns. A header of a chain defines
//     using Delta = ...;  // the change of a cost, an integer
//     class Chain {
//         Chain(Scratch&, int32_t* order, int32_t* best_order, int n, const problem::Data&,
//               const algorithm::Plan&, int64_t me);
//         // The factor of the deltas that Acceptance sees, by which its temperature is divided.
//         static double scale(const algorithm::Plan&);
//         Costs run(Costs, int rows, bool are_kept, const Acceptance<Delta>&, const Alike&,
//                   const draw::Place&, const improver::Plan&);
//     };
// No random numbers here.
#pragma once

#include "core/core.cuh"

namespace tempering {

// Places whose exchange never changes the cost have equal numbers. Null: there are none.
struct Alike {
    const int32_t* places;

    __device__ bool are(int p, int q) const { return places != nullptr && places[p] == places[q]; }
};

// The costs of a replica, and what a chain has done.
struct Costs {
    int64_t current, best;
    int64_t proposed, accepted;
};

// A row of pairs in a sweep over all of them.
struct Row {
    int sweep, i;

    __device__ bool is_after(int other_sweep, int other_i) const {
        return other_sweep < sweep || (other_sweep == sweep && other_i < i);
    }
};

}  // namespace tempering
