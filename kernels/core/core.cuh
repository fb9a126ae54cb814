// Includes the common base of all kernels: the same types and functions for NVRTC and for the C++
// compiler of the CPU. No random numbers here.
#pragma once

#include "core/block.cuh"
#include "core/compiler.cuh"
#include "core/draw.cuh"
#include "core/layout.cuh"
#include "core/pairs.cuh"
#include "core/products.cuh"
#include "core/quads.cuh"
#include "core/scratch.cuh"
#include "core/sort.cuh"
#include "core/triangle.cuh"
#include "core/votes.cuh"
