// A problem that the host evaluates: declares data without content, as kernels read none. No random
// numbers.
#pragma once

#include "core/core.cuh"
#ifdef ISLANDS_STORED
#include "problems/solution.cuh"
#endif

namespace problem {

struct Data {
    int32_t nothing;
};

}  // namespace problem
