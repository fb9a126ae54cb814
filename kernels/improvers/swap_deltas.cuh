// The delta of each exchange of two entries, for an order that changes by exchanges. This version
// recomputes all deltas; a problem may name a faster class in PROBLEM_SWAPS. Reads the order and
// the problem's data; returns deltas. No random numbers.
#pragma once

#include "core/core.cuh"
#include "improvers/changes.cuh"
#include "moves.cuh"

#ifdef PROBLEM_SWAPS
#include PROBLEM_SWAPS
#else

namespace problem {

class SwapDeltas {
  public:
    using Delta = int64_t;
    static constexpr bool EVALUATES = true;  // nothing is stored: a step evaluates all pairs

    // Return for each item the first one after its group of equal items; null if there are none.
    __device__ static const int32_t* after(const Data&) { return nullptr; }

    __device__ SwapDeltas(Scratch&, const int32_t* order, int n, const Data& data,
                          const block::Triangle&)
        : n_(n), changes_(order, n, data) {}

    __device__ void begin() {}

    // Prepare for the pairs of a step.
    __device__ void begin_step() { changes_.begin(); }

    // Return the deltas of a run of pairs. Entries that are not pairs are undefined, and all are
    // once the lookout sees a stop request.
    template <class Lookout>
    __device__ block::Run<Delta> advance(int, block::Triangle::Place place, Lookout& lookout) {
        block::Run<Delta> run;
        for (int k = 0; k < block::RUN; ++k) {
            const moves::Swap swap{place.i, place.j + k};
            const bool exists = swap.u < swap.v && swap.v < n_ && !lookout.sees();
            run.item[k] = exists ? Delta(changes_.by(swap)) : 0;
        }
        return run;
    }

    __device__ void announce(moves::Swap, Delta) {}
    __device__ void rest() {}
    __device__ void follow(moves::Swap) { __syncthreads(); }

  private:
    const int n_;
    improver::Changes changes_;
};

}  // namespace problem

#endif
