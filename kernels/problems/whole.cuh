// The actual type of a user's cost of type `long long`: a returned real number would silently lose
// its fraction, and is a compiler error instead. Accesses no memory. No random numbers.
#pragma once

#include "core/core.cuh"

namespace problem {

template <class T>
constexpr bool IS_WHOLE = true;
template <>
inline constexpr bool IS_WHOLE<double> = false;
template <>
inline constexpr bool IS_WHOLE<float> = false;

// As many letters as `long long`, so that errors show the right column.
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
