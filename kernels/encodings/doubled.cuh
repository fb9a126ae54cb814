// A closed tour through two nodes for each item, 2 k and 2 k + 1, one after the other, in the order
// of the solution or in reverse: what comes into an item and what goes out of it then differ,
// though the lengths between nodes are the same in both directions. Only for algorithms that
// evaluate tours themselves. Random streams: those of permutation.cuh.
#pragma once

#define ENCODING_DOUBLED 1

#include "encodings/permutation.cuh"
