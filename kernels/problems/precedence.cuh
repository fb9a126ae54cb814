// Orders with precedence constraints (STATED_BEFORE): operators create any order, whose items are
// then rearranged. Reads the pairs; changes an order. No random numbers.
#pragma once

#include "core/core.cuh"
#include "problems/solution.cuh"

namespace problem {

// Fill each place with the first of the remaining items whose predecessors are placed; return
// whether the order has changed. `before` contains the predecessors of each item, starting at
// `first[item]`. Called by one thread. The upper bit of entry k marks item k as placed.
__device__ bool keep_precedence(int32_t* order, int n, const int* first, const int* before) {
    constexpr int32_t PLACED = int32_t(0x80000000), ITEM = 0x7fffffff;
    const auto is_ready = [&](int item) {
        for (int k = first[item]; k < first[item + 1]; ++k) {
            if (!(order[before[k]] & PLACED)) return false;
        }
        return true;
    };
    bool changed = false;
    for (int place = 0; place < n; ++place) {
        int from = place;
        while (from < n - 1 && !is_ready(order[from] & ITEM)) ++from;
        const int32_t item = order[from] & ITEM;
        for (int i = from; i > place; --i) {
            order[i] = (order[i] & PLACED) | (order[i - 1] & ITEM);
        }
        order[place] = (order[place] & PLACED) | item;
        order[item] |= PLACED;
        changed |= from > place;
    }
    for (int i = 0; i < n; ++i) order[i] &= ITEM;
    return changed;
}

}  // namespace problem
