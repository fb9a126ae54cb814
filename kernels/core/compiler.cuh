// Includes what the compiler lacks of the types and functions that both compilers share: for NVRTC
// device.cuh, for the C++ compiler of the CPU host.hpp. No random numbers here.
#pragma once

// A program may be compiled in pieces, each with some of the kernels: ISLANDS_HAS_name is
// `,WITH_KERNEL` or `,WITHOUT_KERNEL`, and ISLANDS_OTHERS one of these words for all other kernels.
// A kernel that is left out is a template that nothing uses.
#ifndef ISLANDS_OTHERS
#define ISLANDS_OTHERS WITH_KERNEL
#endif
#define KERNEL_IN_PIECE(name) SECOND_OF(ISLANDS_HAS_##name, ISLANDS_OTHERS, )
#define SECOND_OF(...) SECOND(__VA_ARGS__)
#define SECOND(first, second, ...) second

#ifdef __CUDACC__
#include "core/device.cuh"
#else
#include "core/host.hpp"
#endif
