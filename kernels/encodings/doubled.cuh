// A closed tour through two adjacent nodes per item, 2 k and 2 k + 1, in the order of the solution
// or in reverse. Edges into and out of an item then differ although lengths between nodes are
// symmetric. Only for algorithms that evaluate tours themselves. Random streams: those of
// permutation.cuh.
#pragma once

#define ENCODING_DOUBLED 1

#include "encodings/permutation.cuh"
