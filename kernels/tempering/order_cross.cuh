// Uniform-like crossover of two orders, of which one child is used. Reads the orders, writes a
// child. Random streams: CROSS of crossovers/uniform_like.cuh.
#pragma once

#include "crossovers/uniform_like.cuh"
#include "tempering/plan.cuh"

namespace tempering {

class Cross {
  public:
    __device__ Cross(Scratch& scratch, const encoding::Shape& shape, const algorithm::Plan&)
        : shape_(shape),
          mates_{scratch.take<int32_t>(2 * shape.pitch), shape.pitch},
          children_{scratch.take<int32_t>(2 * shape.pitch), shape.pitch},
          scratch_(scratch) {
        const crossover::Workspace crossing(scratch, shape);
    }

    // Both parents are complete on entry, and the child on return.
    __device__ void make(int32_t* child, const int32_t* mine, const int32_t* other,
                         const draw::Place& place) {
        copy_row(mates_[0], mine, shape_.pitch);
        copy_row(mates_[1], other, shape_.pitch);
        __syncthreads();
        crossover::cross(scratch_, mates_, children_, shape_, {}, place);
        __syncthreads();
        for (int i = threadIdx.x; i < shape_.n; i += blockDim.x) child[i] = children_[0][i];
        __syncthreads();
    }

  private:
    const encoding::Shape& shape_;
    const crossover::Pair<encoding::Gene> mates_, children_;
    const Scratch scratch_;
};

}  // namespace tempering
