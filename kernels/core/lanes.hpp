// Vectors of numbers of neighbouring items, for the vector instructions of a CPU. Reads and writes
// them at an address. Only in programs for CPUs. No random numbers.
#pragma once

#include <string.h>

namespace lanes {

constexpr int BYTES = 32;

template <class T>
constexpr int COUNT = BYTES / sizeof(T);

// A vector of T with as many lanes as a vector of Other has.
template <class T, class Other = T>
struct Vector {
    typedef T Type __attribute__((vector_size(COUNT<Other> * sizeof(T))));
};
template <class T>
using Of = typename Vector<T>::Type;

// Load numbers, converted to another type.
template <class To, class T>
inline Of<To> load(const T* numbers) {
    typename Vector<T, To>::Type vector;
    memcpy(&vector, numbers, sizeof vector);
    return __builtin_convertvector(vector, Of<To>);
}

template <class T>
inline void store(T* numbers, const Of<T>& lanes) {
    memcpy(numbers, &lanes, sizeof lanes);
}

}  // namespace lanes
