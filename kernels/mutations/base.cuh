// What mutations have in common. Each brings
//     mutate(scratch, row, shape, one, other)
// which changes a genome as two random words say, and a `Workspace`, made of (scratch, shape),
// where it takes working memory. All that was written is visible after the next barrier only; what
// was written before is seen.
#pragma once

#include "genes.cuh"

namespace mutation {

using encoding::Gene;

}  // namespace mutation
