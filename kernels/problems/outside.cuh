// A problem evaluated in Python. With ISLANDS_STORED, a user function takes all solutions at once,
// and kernels check and take the returned costs. No random numbers.
#pragma once

#include "core/core.cuh"
#ifdef ISLANDS_STORED
#include "problems/solution.cuh"
#include "problems/stated_costs.cuh"
#endif

namespace problem {

#ifdef ISLANDS_STORED

struct Data {
    int64_t* _faults;
};

// The costs of all waiting children.
struct Returned {
    const Cost* cost;
    const int64_t* place;  // index of each child in `outside.cost`
    int32_t count;
};

#else

struct Data {
    int32_t nothing;
};

#endif

}  // namespace problem
