// What every algorithm does with an individual that it has made: evaluate it and improve it.
#pragma once

#include "core/archipelago.cuh"

namespace individual {

// Returns the cost of the individual that a row stands for.
template <class Decoder>
__device__ int64_t evaluated(Decoder& decoder, const encoding::Gene* row, int n,
                             const problem::Data& data) {
    return problem::cost(decoder.decode(row), n, data);
}

// Improves the individual that was decoded last, where that is due, and lets `row` stand for it.
// Returns its cost, and adds to `calls` how often the objective was called.
template <class Decoder>
__device__ int64_t improved(Decoder& decoder, Shelf shelf, const Archipelago& all,
                            const problem::Data& data, const improver::Plan& plan,
                            encoding::Gene* row, int64_t cost, const draw::Place& place,
                            int64_t& calls) {
    if constexpr (improver::ACTIVE) {
        if (!improver::is_due(plan, place)) return cost;
        const int64_t better = improver::improve(plan, shelf, decoder.solution(), all.shape.n, data,
                                                 cost, place, calls);
        if (better != cost) decoder.encode(row);
        return better;
    } else {
        return cost;
    }
}

}  // namespace individual
