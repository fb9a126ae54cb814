// The working memory of mutations that shift genes: a copy of the row. Accesses no memory itself.
// No random numbers.
#pragma once

#include "mutations/base.cuh"

namespace mutation {

struct Workspace {
    Gene* before;

    __device__ Workspace(Scratch& scratch, const encoding::Shape& shape)
        : before(scratch.take<Gene>(shape.n)) {}
};

}  // namespace mutation
