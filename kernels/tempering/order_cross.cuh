// Uniform-like crossover of two orders with a single child. Reads the orders, writes a child.
// Random streams: CROSS of crossovers/uniform_like.cuh.
#pragma once

#include "crossovers/uniform_like.cuh"
#include "tempering/plan.cuh"

namespace tempering {

class Cross {
  public:
    static constexpr bool IS_OF_PROBLEM = false;

    __device__ Cross(Scratch& scratch, const encoding::Shape& shape, const problem::Data&,
                     const algorithm::Plan&)
        : shape_(shape),
          mates_{scratch.take<int32_t>(2 * shape.pitch), shape.pitch},
          scratch_(scratch) {
        const crossover::Workspace crossing(scratch, shape);
    }

    // Both parents are complete on entry, and the child on return.
    __device__ void make(int32_t* child, const int32_t* mine, const int32_t* other,
                         const draw::Place& place) {
        copy_row(mates_[0], mine, shape_.pitch);
        copy_row(mates_[1], other, shape_.pitch);
        __syncthreads();
        crossover::make_children(1, scratch_, mates_, {child, 0}, shape_, place);
        __syncthreads();
    }

  private:
    const encoding::Shape& shape_;
    const crossover::Pair<encoding::Gene> mates_;
    const Scratch scratch_;
};

}  // namespace tempering
