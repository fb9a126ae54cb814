// A problem that Python evaluates. With ISLANDS_STORED, a function of the user takes all solutions
// at once, and returns costs that kernels check and take. No random numbers.
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

// The costs of all children that wait.
struct Returned {
    const Cost* cost;
    const int64_t* place;  // of each, in `outside.cost`
    int32_t count;
};

#else

struct Data {
    int32_t nothing;
};

#endif

}  // namespace problem
