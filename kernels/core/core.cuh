// The ground that every kernel stands on: the same words for NVRTC and for the system's C++
// compiler.
#pragma once

#ifdef __CUDACC__
#include "core/device.cuh"
#else
#include "core/host.hpp"
#endif

#include "core/block.cuh"
#include "core/draw.cuh"
#include "core/pairs.cuh"
#include "core/products.cuh"
#include "core/scratch.cuh"
#include "core/triangle.cuh"
#include "core/votes.cuh"
