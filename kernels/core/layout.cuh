// Compares the types of struct members with those that Python passes: backends/arguments.py writes
// an assertion per member, which is compiled into each program. Reads only types. No random
// numbers.
#pragma once

// Only recent versions of NVRTC have __builtin_offsetof.
#ifdef __CUDACC_RTC__
#define OFFSET_OF(type, member) __INTADDR__(&static_cast<type*>(nullptr)->member)
#else
#define OFFSET_OF(type, member) __builtin_offsetof(type, member)
#endif

namespace layout {

template <class T>
struct Bare {
    using type = T;
};
template <class T>
struct Bare<T&> : Bare<T> {};
template <class T>
struct Bare<const T> : Bare<T> {};
template <class T>
struct Bare<volatile T> : Bare<T> {};
template <class T>
struct Bare<const volatile T> : Bare<T> {};

// The letter of a type, as in core/host.hpp: pointer, struct, floating-point number or integer.
template <class T>
constexpr char LETTER = __is_class(T) ? 'S' : 'i';
template <class T>
constexpr char LETTER<T*> = 'P';
template <>
inline constexpr char LETTER<float> = 'f';
template <>
inline constexpr char LETTER<double> = 'f';

template <class T, char letter, int bytes>
constexpr bool IS = LETTER<typename Bare<T>::type> == letter && sizeof(T) == bytes;

// Python has no element type for structs and raw bytes, so any array may be passed.
template <class T, char letter, int bytes>
constexpr bool ELEMENT_IS = __is_class(T) || IS<T, letter, bytes>;
template <char letter, int bytes>
constexpr bool ELEMENT_IS<char, letter, bytes> = true;
template <char letter, int bytes>
constexpr bool ELEMENT_IS<void, letter, bytes> = true;

template <class T, char letter, int bytes>
constexpr bool POINTS_TO = false;
template <class T, char letter, int bytes>
constexpr bool POINTS_TO<T*, letter, bytes> = ELEMENT_IS<typename Bare<T>::type, letter, bytes>;

template <class T, char letter, int bytes>
constexpr bool IS_POINTER_TO = POINTS_TO<typename Bare<T>::type, letter, bytes>;

}  // namespace layout
