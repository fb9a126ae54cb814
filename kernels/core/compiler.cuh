// Includes the types and functions that the compiler lacks: device.cuh for NVRTC, host.hpp for the
// C++ compiler of the CPU. No random numbers here.
#pragma once

// A program may be compiled in pieces, each with some of its kernels: ISLANDS_HAS_name is
// `,WITH_KERNEL` or `,WITHOUT_KERNEL`, and ISLANDS_OTHERS is one of these for all other kernels. An
// omitted kernel is an unused template.
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
