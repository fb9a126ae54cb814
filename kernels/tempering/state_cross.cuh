// The crossover of the user's state. Reads the solutions, writes a child.
// Random streams: CROSS.
#pragma once

#include "genes.cuh"
#include "tempering/plan.cuh"

namespace tempering {

class Cross {
  public:
    // Whether all replicas of a renewed ladder begin with children.
    static constexpr bool IS_OF_PROBLEM = true;

    __device__ Cross(Scratch& scratch, const encoding::Shape& shape, const problem::Data& data,
                     const algorithm::Plan&)
        : cross_(scratch, genes::items(shape), data) {}

    // See order_cross.cuh; here, the child is a copy of the first parent on entry.
    __device__ void make(encoding::Gene* child, const encoding::Gene*, const encoding::Gene* other,
                         const draw::Place& place) {
        cross_.make_child(child, other, place.words(stream::CROSS, 0));
    }

  private:
    const problem::StateCross cross_;
};

}  // namespace tempering
