// Base of chains on user-defined problems whose moves are evaluated by kernels. Reads the
// problem's data; writes the roughness (mean cost change) of individuals. No random numbers here.
#pragma once

#include "genes.cuh"
#include "improvers/base.cuh"
#include "tempering/base.cuh"

namespace tempering {

// Such a chain also has
//     // Return the mean change in cost of samples() moves.
//     double roughness(int64_t cost, const draw::Place&, const improver::Plan&) const;
class MovingChain : public BaseChain {
  public:
    __device__ static int64_t evaluate(Gene* state, Gene* best, const Scratch&,
                                       const encoding::Shape& shape, const problem::Data& data,
                                       const draw::Place&) {
        const int64_t cost = problem::cost_repaired(state, genes::items(shape), data);
        copy_row(best, state, shape.pitch);
        __syncthreads();
        return cost;
    }

    template <class Make>
    __device__ static int64_t begin(const Plan& plan, int64_t me, int64_t cost,
                                    const draw::Place& place, const improver::Plan& improving,
                                    Make make) {
        const auto chain = make();
        const double rough = chain.roughness(cost, place, improving);
        if (threadIdx.x == 0) plan.roughness[me] = rough;
        return chain.samples();
    }
};

}  // namespace tempering
