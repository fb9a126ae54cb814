// Declares vectors of four numbers that a thread reads or writes at once. No random numbers.
#pragma once

#include "core/compiler.cuh"

struct alignas(16) DoubleQuad {
    double x, y, z, w;
};

template <class Number>
struct QuadOf;
template <>
struct QuadOf<float> {
    using Type = float4;
};
template <>
struct QuadOf<double> {
    using Type = DoubleQuad;
};

template <class Number>
using Quad = typename QuadOf<Number>::Type;
