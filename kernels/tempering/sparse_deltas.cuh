// The cost change due to the exchange of two items with sparse flows, computed from their
// neighbours. Reads the network of the plan and the order. No random numbers.
#pragma once

#include "improvers/swap_deltas.cuh"
#include "tempering/acceptance.cuh"
#include "tempering/plan.cuh"

namespace tempering {

class SparseDeltas {
  public:
    using Delta = problem::SwapDeltas::Delta;

    __device__ SparseDeltas(Scratch& scratch, const int32_t* order, int n, const problem::Data&,
                            const algorithm::PairPlan& plan, int64_t, const block::Triangle&)
        : network_(plan.network),
          order_(order),
          n_(n),
          inverse_(network_.turned ? scratch.take<int32_t>(n) : nullptr) {}

    // Nothing is kept between generations.
    __device__ static void forget(const algorithm::PairPlan&, int64_t) {}
    __device__ void end(int64_t) const {}

    // See stored_deltas.cuh for the following functions.
    __device__ void begin(bool, int64_t) {
        if (!network_.turned) return;
        for (int i = threadIdx.x; i < n_; i += blockDim.x) inverse_[order_[i]] = i;
        __syncthreads();
    }

    // Random words are drawn only if a delta may be accepted with some of them.
    template <class Words, class Pairs, class Differs>
    __device__ block::Bid<Delta> first_accepted(int, block::Triangle::Place at, Words words,
                                                Pairs pairs, const Acceptance<Delta>& acceptance,
                                                Differs differs) const {
        const uint32_t proposed = pairs();
        block::Run<uint32_t> word;
        bool has_words = false;
        for (int k = 0; k < block::RUN; ++k) {
            if (!(proposed >> k & 1)) continue;
            const Delta delta = raised(at.i, at.j + k);
            if (!acceptance.may_ever_accept(delta)) continue;
            if (!has_words) word = words();
            has_words = true;
            if (!acceptance.may_accept(delta, word.item[k])) continue;  // fast
            if (acceptance.accepts(delta, word.item[k]) && differs(k)) return {uint32_t(k), delta};
        }
        return {};
    }

    __device__ void announce(moves::Swap swap, Delta) {
        if (!network_.turned || threadIdx.x > 0) return;
        inverse_[order_[swap.u]] = swap.v;
        inverse_[order_[swap.v]] = swap.u;
    }

    __device__ void follow(moves::Swap) {}

  private:
    // Return the cost increase by the exchange of two entries of the order.
    __device__ Delta raised(int i, int j) const {
        if (!network_.turned) return network_.raised(order_, i, j);
        return network_.raised(inverse_, order_[i], order_[j]);
    }

    const problem::Network& network_;
    const int32_t* const order_;
    const int n_;
    int32_t* const inverse_;  // of the order, if items are places of the problem
};

}  // namespace tempering
