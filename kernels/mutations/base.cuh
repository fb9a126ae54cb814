// Base of all mutations. Each declares
//     mutate(scratch, row, shape, one, other)
// which changes a genome as determined by two random words of the caller. If it takes scratch
// memory, it also declares a `Workspace`, constructed from (scratch, shape). It first waits at a
// barrier, to see earlier writes; its own are visible after the next barrier. No random numbers
// here.
#pragma once

#include "genes.cuh"

namespace mutation {

using encoding::Gene;

}  // namespace mutation
