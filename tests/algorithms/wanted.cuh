// A problem of the tests: the sum of weights of bits that differ from their target values. Reads a
// subset and the data; returns its cost. No random numbers.
#pragma once

#include "core/core.cuh"

namespace problem {

struct Data {
    const int32_t* wanted;
    const int32_t* weight;
};

template <class Subset>
__device__ int64_t cost(const Subset& subset, int n, const Data& data) {
    int64_t mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (subset[i] != data.wanted[i]) mine += data.weight[i];
    }
    return block::sum(mine);
}

}  // namespace problem
