// Stored cost changes due to the exchange of each pair of items, updated when items are exchanged.
// They may be kept between generations. Reads the problem's data; writes the arrays of the plan. No
// random numbers.
#pragma once

#include "improvers/swap_deltas.cuh"
#include "tempering/plan.cuh"
#include "tempering/stored_run.cuh"

namespace tempering {

class StoredDeltas {
  public:
    using Delta = problem::SwapDeltas::Delta;

    __device__ StoredDeltas(Scratch& scratch, const int32_t* order, int n,
                            const problem::Data& data, const algorithm::PairPlan& plan, int64_t me,
                            const block::Triangle& triangle)
        : plan_(plan),
          me_(me),
          triangle_(triangle),
          deltas_(scratch, order, n, data, triangle, kept(plan, me)) {}

    // Invalidate the deltas of an individual, as its order has changed.
    __device__ static void forget(const algorithm::PairPlan& plan, int64_t me) {
        if (KEEPS) plan.deltas_of[me] = NO_DELTAS;
    }

    // The order is complete on entry, and the deltas are visible on return. `resumes`: whether the
    // order is that at the end of the previous generation.
    __device__ void begin(bool resumes, int64_t generation) {
        const bool are_kept = claim(generation - 1) && resumes;
        deltas_.begin(are_kept);
        __syncthreads();
    }

    // Return the first exchange of a run that is accepted: see stored_run.cuh.
    template <class Words, class Pairs, class Differs>
    __device__ block::Bid<Delta> first_accepted(int run, block::Triangle::Place, Words words,
                                                Pairs pairs, const Acceptance<Delta>& acceptance,
                                                Differs differs) const {
        return first_of_run<Delta>(deltas_.stored(run), words, pairs, acceptance, differs);
    }

    // Announce the exchange of two items, which raises the cost by `by`.
    __device__ void announce(moves::Swap swap, Delta by) { deltas_.announce(swap, by); }

    // Apply the announced exchange.
    __device__ void follow(moves::Swap swap) {
        deltas_.follow(swap);
        for (int run = threadIdx.x; run < triangle_.runs(); run += blockDim.x) {
            deltas_.advance(run, triangle_.place(run));
        }
    }

    // Keep the deltas of a generation.
    __device__ void end(int64_t generation) const {
        if (KEEPS && threadIdx.x == 0) plan_.deltas_of[me_] = generation;
    }

  private:
    static constexpr bool KEEPS = TEMPERING_KEEPS;  // whether deltas are kept between generations
    static constexpr int64_t NO_DELTAS = -1;

    // Return the memory for the deltas of an individual, or null.
    __device__ static Delta* kept(const algorithm::PairPlan& plan, int64_t me) {
        if (!KEEPS) return nullptr;
        return reinterpret_cast<Delta*>(plan.deltas + me * plan.deltas_bytes);
    }

    // Return whether the deltas of a generation are kept, and mark them invalid, as they are about
    // to change: if the next generation is abandoned, they belong to no generation.
    __device__ bool claim(int64_t generation) const {
        if (!KEEPS) return false;
        const bool are_kept = plan_.deltas_of[me_] == generation;
        __syncthreads();
        if (threadIdx.x == 0) plan_.deltas_of[me_] = NO_DELTAS;
        return are_kept;
    }

    const algorithm::PairPlan& plan_;
    const int64_t me_;
    const block::Triangle& triangle_;
    problem::SwapDeltas deltas_;
};

}  // namespace tempering
