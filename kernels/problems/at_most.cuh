// Choices with a limited number of items per value: operators ignore the limits, and surplus items
// are then reassigned to values with room. The reassignment depends only on the choices, through an
// unbiased hash. Reads and changes choices. No random numbers.
#pragma once

#include "core/core.cuh"
#include "problems/solution.cuh"

namespace problem {

// Number of items per value. A value with too many items keeps the first ones.
class Counts {
  public:
    __device__ Counts(const Stored* choices, int n, const int32_t* most) : most_(most) {
        for (int value = 0; value < STATED_AT_MOST; ++value) count_[value] = 0;
        for (int i = 0; i < n; ++i) ++count_[choices[i]];
        for (int value = 0; value < STATED_AT_MOST; ++value) {
            if (count_[value] > most[value]) all_fit_ = false, count_[value] = FIRST;
        }
    }

    __device__ bool all_fit() const { return all_fit_; }
    __device__ bool has_room(int value) const {
        return count_[value] >= 0 && count_[value] < most_[value];
    }
    __device__ void add(int value) { ++count_[value]; }

    // Return whether the next item of a value keeps it.
    __device__ bool keeps(int value) {
        if (count_[value] >= 0) return true;
        const int kept = FIRST - count_[value];
        if (kept == most_[value]) return false;
        --count_[value];
        return true;
    }

  private:
    static constexpr int32_t FIRST = -1;

    const int32_t* const most_;
    bool all_fit_ = true;
    // Number of items or, if there are too many, FIRST minus the number of those kept.
    int32_t count_[STATED_AT_MOST];
};

// Enforce the limits of all values; return whether choices have changed. Called by one thread.
__device__ bool keep_limits(Stored* choices, int n, int values, const int32_t* most) {
    Counts counts(choices, n, most);
    if (counts.all_fit()) return false;
    uint32_t hash = 0x9e3779b9u;
    for (int i = 0; i < n; ++i) {
        hash = (hash ^ uint32_t(choices[i])) * 0x915f77f5u;
        hash ^= hash >> 15;
    }
    const int first = draw::below(hash, n);
    for (int k = 0; k < n; ++k) {
        const int item = first + k < n ? first + k : first + k - n;
        if (counts.keeps(choices[item])) continue;
        hash = hash * 0x915f77f5u + 0x9e3779b9u;
        int other = draw::below(hash, values);
        while (!counts.has_room(other)) other = other + 1 < values ? other + 1 : 0;
        choices[item] = other;
        counts.add(other);
    }
    return true;
}

}  // namespace problem
