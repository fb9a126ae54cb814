// Subsets of STATED_LEAST to STATED_MOST items: operators create subsets of any size, and items are
// then removed or added. Which ones depends only on the subset, through an unbiased hash. Reads and
// changes a subset. No random numbers.
#pragma once

#include "core/core.cuh"
#include "problems/solution.cuh"

namespace problem {

// Return the chosen item (if not `is_chosen`, the unchosen one) with `rank` such items before it.
__device__ int ranked_item(const Stored* subset, int rank, bool is_chosen) {
    for (int w = 0;; ++w) {
        uint32_t items = is_chosen ? subset[w] : ~subset[w];
        const int count = __popc(items);
        if (rank >= count) {
            rank -= count;
            continue;
        }
        for (; rank > 0; --rank) items &= items - 1;
        return 32 * w + __ffs(items) - 1;
    }
}

// Give a subset an allowed number of items; return whether it has changed. Called by one thread.
__device__ bool choose_within(Stored* subset, int n) {
    int count = 0;
    uint32_t hash = 0x9e3779b9u;
    for (int w = 0; w < stored_length(n); ++w) {
        count += __popc(subset[w]);
        hash = (hash ^ subset[w]) * 0x915f77f5u;
        hash ^= hash >> 15;
    }
    const bool is_chosen = count > STATED_MOST;
    const int changes = is_chosen ? count - STATED_MOST : max(0, STATED_LEAST - count);
    for (int left = changes; left > 0; --left) {
        hash = hash * 0x915f77f5u + 0x9e3779b9u;
        const int rank = draw::below(hash, is_chosen ? count : n - count);
        const int item = ranked_item(subset, rank, is_chosen);
        subset[item / 32] ^= 1u << (item % 32);
        count += is_chosen ? -1 : 1;
    }
    return changes > 0;
}

}  // namespace problem
