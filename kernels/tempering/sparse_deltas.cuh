// The change of the cost by the exchange of two items with sparse flows, computed from their
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

    // Nothing is kept.
    __device__ static void forget(const algorithm::PairPlan&, int64_t) {}
    __device__ void end(int64_t) const {}

    // See stored_deltas.cuh for the next functions.
    __device__ void begin(bool, int64_t) {
        if (!network_.turned) return;
        for (int i = threadIdx.x; i < n_; i += blockDim.x) inverse_[order_[i]] = i;
        __syncthreads();
    }

    // Nothing is known before a delta is computed.
    __device__ uint32_t may_accept(int, const block::Run<uint32_t>&,
                                   const Acceptance<Delta>&) const {
        return ~0u;
    }

    __device__ Delta by(int, block::Triangle::Place pair) const {
        if (!network_.turned) return network_.raised(order_, pair.i, pair.j);
        return network_.raised(inverse_, order_[pair.i], order_[pair.j]);
    }

    __device__ void announce(moves::Swap swap, Delta) {
        if (!network_.turned || threadIdx.x > 0) return;
        inverse_[order_[swap.u]] = swap.v;
        inverse_[order_[swap.v]] = swap.u;
    }

    __device__ void follow(moves::Swap) {}

  private:
    const problem::Network& network_;
    const int32_t* const order_;
    const int n_;
    int32_t* const inverse_;  // of the order, if items are places of the problem
};

}  // namespace tempering
