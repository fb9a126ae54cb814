// A problem of the tests: the sum of squared distances from target values, in millionths. Reads a
// vector and the data; returns its cost. No random numbers.
#pragma once

#include "core/core.cuh"

namespace problem {

struct Data {
    const double *low, *high, *target;
};

template <class Numbers>
__device__ int64_t cost(const Numbers& numbers, int n, const Data& data) {
    int64_t mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const double there = data.low[i] + (data.high[i] - data.low[i]) * numbers[i];
        const double distance = (there < data.high[i] ? there : data.high[i]) - data.target[i];
        mine += int64_t(1e6 * (distance * distance));
    }
    return block::sum(mine);
}

}  // namespace problem
