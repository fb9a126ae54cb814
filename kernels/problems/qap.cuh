// The quadratic assignment problem: the cost of putting thing i in place p(i), summed over all
// ordered pairs. Where QAP_SYMMETRIC, both matrices are symmetric, and the entries of `a` off its
// diagonal stand for both orders of a pair.
#pragma once

#include "core/core.cuh"

namespace problem {

struct Data {
    const QAP_A* a;
    const QAP_B* b;
};

// What a thing in a place costs by itself.
__device__ int64_t own_cost(const Data& data, int n, int thing, int place) {
    return QAP_DIAGONAL ? int64_t(data.a[thing * n + thing]) * data.b[place * n + place] : 0;
}

template <class Order>
__device__ int64_t cost(const Order& order, int n, const Data& data) {
    int64_t mine = 0;
    block::pairs(n, [&](int i, int j) {
        const int from = order[i], to = order[j];
        mine += int64_t(data.a[i * n + j]) * data.b[from * n + to];
#if !QAP_SYMMETRIC
        mine += int64_t(data.a[j * n + i]) * data.b[to * n + from];
#endif
    });
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine += own_cost(data, n, i, order[i]);
    return block::sum(mine);
}

}  // namespace problem
