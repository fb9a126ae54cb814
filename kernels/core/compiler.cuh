// Includes what the compiler lacks of the types and functions that both compilers share: for NVRTC
// device.cuh, for the C++ compiler of the CPU host.hpp. No random numbers here.
#pragma once

#ifdef __CUDACC__
#include "core/device.cuh"
#else
#include "core/host.hpp"
#endif
