// Uniform crossover of two subsets or vectors with a single child, which takes each item from one
// of its parents. Reads the parents, writes a child. Random streams: CROSS.
#pragma once

#include "genes.cuh"
#include "tempering/plan.cuh"

namespace tempering {

class Cross {
  public:
    static constexpr bool IS_OF_PROBLEM = false;

    __device__ Cross(Scratch& scratch, const encoding::Shape& shape, const problem::Data&,
                     const algorithm::Plan&)
        : shape_(shape),
          words_((genes::items(shape) + 31) / 32),
          mask_(scratch.take<uint32_t>(words_)) {}

    // Both parents are complete on entry, and the child on return.
    __device__ void make(encoding::Gene* child, const encoding::Gene* mine,
                         const encoding::Gene* other, const draw::Place& place) {
        for (int i = threadIdx.x; i < words_; i += blockDim.x) {
            const uint4 four = place.words(stream::CROSS, i / 4);
            const uint32_t words[4] = {four.x, four.y, four.z, four.w};
            mask_[i] = words[i % 4];
        }
        __syncthreads();
        for (int i = threadIdx.x; i < shape_.n; i += blockDim.x) {
            child[i] = genes::mixed(mine, other, mask_, i);
        }
        __syncthreads();
    }

  private:
    const encoding::Shape& shape_;
    const int words_;
    uint32_t* const mask_;
};

}  // namespace tempering
