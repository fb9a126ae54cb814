// Includes elementary functions that are bit-identical on all devices, unlike those of the
// compilers' libraries: exact::exp, log, pow, sin and cos, for costs of vectors. They are accurate
// to one unit in the last place, pow to two. No random numbers.
#pragma once

#include "core/circular.cuh"
#include "core/exponential.cuh"
