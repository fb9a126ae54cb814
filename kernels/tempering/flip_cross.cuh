// Crossover of two solutions of a sparse quadratic model: for each connected part in which they
// differ, the child takes the better one. Reads the parents, writes a child. No random numbers.
#pragma once

#include "tempering/flip_parts.cuh"

namespace tempering {

class Cross {
  public:
    static constexpr bool IS_OF_PROBLEM = false;

    __device__ Cross(Scratch& scratch, const encoding::Shape& shape, const problem::Data&,
                     const algorithm::Plan& plan)
        : n_(genes::items(shape)),
          parts_({scratch.take<int32_t>(n_), scratch.take<int32_t>(n_), scratch.take<int8_t>(n_)},
                 n_, plan.chain) {}

    // Both parents are complete on entry, and the child on return. On entry, it is a copy of the
    // first parent.
    __device__ void make(encoding::Gene* child, const encoding::Gene*, const encoding::Gene* other,
                         const draw::Place&) const {
        parts_.improve(child, other);
    }

  private:
    const int n_;
    const FlipParts parts_;
};

}  // namespace tempering
