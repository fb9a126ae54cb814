// A problem that the host evaluates: kernels have no data of it. No random numbers.
#pragma once

#include "core/core.cuh"

namespace problem {

struct Data {
    int32_t nothing;
};

}  // namespace problem
