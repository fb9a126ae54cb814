// Choices of which each value has a limited number of items: operators make any, of which surplus
// items then take values with room. Which ones follows from the choices alone, by a hash that
// favours none. Reads and changes choices. No random numbers.
#pragma once

#include "core/core.cuh"
#include "problems/solution.cuh"

namespace problem {

// Return how many of some items, from one on and going round, have a value.
__device__ int with_value(const Stored* choices, int n, int first, int count, int value) {
    int found = 0;
    for (int k = 0; k < count; ++k) {
        const int item = first + k < n ? first + k : first + k - n;
        found += choices[item] == value;
    }
    return found;
}

// Let no value have more items than it may have; return whether choices have changed. Called by one
// thread.
__device__ bool keep_limits(Stored* choices, int n, int values, const int32_t* most) {
    uint32_t hash = 0x9e3779b9u;
    for (int i = 0; i < n; ++i) {
        hash = (hash ^ uint32_t(choices[i])) * 0x915f77f5u;
        hash ^= hash >> 15;
    }
    const int first = draw::below(hash, n);
    bool has_changed = false;
    for (int k = 0; k < n; ++k) {
        const int item = first + k < n ? first + k : first + k - n, value = choices[item];
        if (with_value(choices, n, first, k, value) < most[value]) continue;
        hash = hash * 0x915f77f5u + 0x9e3779b9u;
        int other = draw::below(hash, values);
        while (with_value(choices, n, 0, n, other) >= most[other]) {
            other = other + 1 < values ? other + 1 : 0;
        }
        choices[item] = other;
        has_changed = true;
    }
    return has_changed;
}

}  // namespace problem
