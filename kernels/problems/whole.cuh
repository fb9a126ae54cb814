// The type that replaces `long long` in user functions: returning a real number, which would
// silently lose its fraction, is a compiler error. Accesses no memory. No random numbers.
#pragma once

#include "core/core.cuh"

namespace problem {

template <class T>
constexpr bool IS_WHOLE = true;
template <>
inline constexpr bool IS_WHOLE<double> = false;
template <>
inline constexpr bool IS_WHOLE<float> = false;

// The name has the length of `long long`, so that errors show the right column.
struct WholeCost {
    long long value;

    template <class T>
    __device__ WholeCost(T number) : value(static_cast<long long>(number)) {
        static_assert(IS_WHOLE<T>,
                      "a function of the type long long returns a real number: let cost "
                      "and all other functions return double, or convert the value");
    }

    __device__ operator long long() const { return value; }
};

}  // namespace problem
