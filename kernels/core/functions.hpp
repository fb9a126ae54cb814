// Defines CUDA's functions and types for the CPU: those whose results have the same bits on a GPU,
// and the elementary functions. User code may call all of them: see docs/problems.md. No random
// numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

// GCC's special functions, such as Riemann's zeta, are unused and take a third of the compile
// time of all headers.
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#include <cmath>

struct alignas(16) uint4 {
    uint32_t x, y, z, w;
};
struct alignas(8) int2 {
    int x, y;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) double2 {
    double x, y;
};

inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }

// As in CUDA, functions of floats return floats; those of C are for doubles only.
using std::abs, std::fabs, std::sqrt, std::cbrt, std::hypot, std::pow, std::fma, std::fmod;
using std::acos, std::asin, std::atan, std::atan2, std::cos, std::sin, std::tan;
using std::ceil, std::floor, std::rint, std::round, std::trunc, std::copysign;
using std::cosh, std::erf, std::exp, std::exp2, std::expm1, std::lgamma, std::sinh, std::tanh;
using std::fmax, std::fmin, std::isfinite, std::isinf, std::isnan, std::signbit;
using std::log, std::log10, std::log1p, std::log2, std::tgamma;
using std::max, std::min;

// NaN loses against a number; +0 is above -0.
inline double max(double a, double b) { return a > b || b != b || (a == b && signbit(b)) ? a : b; }
inline double min(double a, double b) { return a < b || b != b || (a == b && signbit(a)) ? a : b; }
inline float max(float a, float b) { return a > b || b != b || (a == b && signbit(b)) ? a : b; }
inline float min(float a, float b) { return a < b || b != b || (a == b && signbit(a)) ? a : b; }
inline double max(float a, double b) { return max(double(a), b); }
inline double max(double a, float b) { return max(a, double(b)); }
inline double min(float a, double b) { return min(double(a), b); }
inline double min(double a, float b) { return min(a, double(b)); }

// The type of min and max of a signed and an unsigned integer of the same size.
template <class A, class B>
using Unsigned =
    std::enable_if_t<std::is_integral_v<A> && std::is_integral_v<B> && sizeof(A) == sizeof(B) &&
                         (sizeof(A) > 2) && std::is_signed_v<A> != std::is_signed_v<B>,
                     std::make_unsigned_t<A>>;
template <class A, class B>
Unsigned<A, B> max(A a, B b) {
    return std::max(Unsigned<A, B>(a), Unsigned<A, B>(b));
}
template <class A, class B>
Unsigned<A, B> min(A a, B b) {
    return std::min(Unsigned<A, B>(a), Unsigned<A, B>(b));
}

inline int __popc(uint32_t bits) { return __builtin_popcount(bits); }
inline int __popcll(uint64_t bits) { return __builtin_popcountll(bits); }
inline int __ffs(uint32_t bits) { return __builtin_ffs(int(bits)); }
inline int __ffsll(uint64_t bits) { return __builtin_ffsll(int64_t(bits)); }
inline int __clz(uint32_t bits) { return bits ? __builtin_clz(bits) : 32; }
inline int __clzll(uint64_t bits) { return bits ? __builtin_clzll(bits) : 64; }

inline uint64_t __brevll(uint64_t bits) {
    uint64_t reversed = 0;
    for (int i = 0; i < 64; ++i) reversed |= (bits >> i & 1) << (63 - i);
    return reversed;
}
inline uint32_t __brev(uint32_t bits) { return __brevll(bits) >> 32; }

inline int __mulhi(int a, int b) { return int64_t(a) * b >> 32; }
inline uint32_t __umulhi(uint32_t a, uint32_t b) { return uint64_t(a) * b >> 32; }
inline int64_t __mul64hi(int64_t a, int64_t b) { return int64_t((__int128)a * b >> 64); }
inline uint64_t __umul64hi(uint64_t a, uint64_t b) {
    return uint64_t((unsigned __int128)a * b >> 64);
}

template <class To, class From>
To with_bits_of(From value) {
    static_assert(sizeof(To) == sizeof(From));
    To bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
inline int __float_as_int(float value) { return with_bits_of<int>(value); }
inline float __int_as_float(int bits) { return with_bits_of<float>(bits); }
inline uint32_t __float_as_uint(float value) { return with_bits_of<uint32_t>(value); }
inline float __uint_as_float(uint32_t bits) { return with_bits_of<float>(bits); }
inline int64_t __double_as_longlong(double value) { return with_bits_of<int64_t>(value); }
inline double __longlong_as_double(int64_t bits) { return with_bits_of<double>(bits); }

template <class T>
T __ldg(const T* address) {
    return *address;
}

// These operations are only used within a block, which is one thread, so they need not be atomic.
// Floating-point sums, which depend on the order of threads on a GPU, are not provided.
template <class T>
using Atomic =
    std::enable_if_t<std::is_same_v<T, int> || std::is_same_v<T, unsigned> ||
                         std::is_same_v<T, unsigned long> || std::is_same_v<T, unsigned long long>,
                     T>;

template <class T, class Make>
T exchanged(T* number, Make make) {
    const T before = *number;
    *number = make(before);
    return before;
}
template <class T>
Atomic<T> atomicAdd(T* number, Atomic<T> value) {
    return exchanged(number, [=](T before) { return T(std::make_unsigned_t<T>(before) + value); });
}
template <class T>
Atomic<T> atomicSub(T* number, Atomic<T> value) {
    return exchanged(number, [=](T before) { return T(std::make_unsigned_t<T>(before) - value); });
}
template <class T>
Atomic<T> atomicMin(T* number, Atomic<T> value) {
    return exchanged(number, [=](T before) { return std::min(before, value); });
}
template <class T>
Atomic<T> atomicMax(T* number, Atomic<T> value) {
    return exchanged(number, [=](T before) { return std::max(before, value); });
}
template <class T>
Atomic<T> atomicAnd(T* number, Atomic<T> value) {
    return exchanged(number, [=](T before) { return before & value; });
}
template <class T>
Atomic<T> atomicOr(T* number, Atomic<T> value) {
    return exchanged(number, [=](T before) { return before | value; });
}
template <class T>
Atomic<T> atomicXor(T* number, Atomic<T> value) {
    return exchanged(number, [=](T before) { return before ^ value; });
}
template <class T>
Atomic<T> atomicExch(T* number, Atomic<T> value) {
    return exchanged(number, [=](T) { return value; });
}
template <class T>
Atomic<T> atomicCAS(T* number, Atomic<T> expected, Atomic<T> value) {
    return exchanged(number, [=](T before) { return before == expected ? value : before; });
}

extern "C" int printf(const char*, ...);
