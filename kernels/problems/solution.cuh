// The solution of a user-defined problem, as read by a user's cost: s[i] is the item at place i, 1
// or 0, key i, coordinate i, or the value of item i (SOLUTION_KIND). Solutions are stored in rows
// or, with ISLANDS_TILED, in tiles of 32 with interleaved entries, so that neighbouring threads
// read neighbouring words. Reads a solution; writes stored ones, and reports invalid values of user
// functions. No random numbers.
#pragma once

#include "core/core.cuh"
#include "problems/faults.cuh"

#define SOLUTION_ORDER 0
#define SOLUTION_SUBSET 1
#define SOLUTION_KEYS 2
#define SOLUTION_VECTOR 3
#define SOLUTION_CHOICES 4

namespace problem {

constexpr int TILE = 32;
#ifdef ISLANDS_TILED
constexpr int STRIDE = TILE;
#else
constexpr int STRIDE = 1;
#endif

#if SOLUTION_KIND == SOLUTION_ORDER

#ifdef SOLUTION_NARROW  // tiles of 16-bit items leave room for more individuals in fast memory
using Stored = uint16_t;
#else
using Stored = int32_t;
#endif

// `mask` selects the bits of the item; sorted keys have other bits above them.
struct Solution {
    const Stored* item;
    int32_t mask = -1;

    __device__ int operator[](int place) const { return item[place * STRIDE] & mask; }

#ifndef ISLANDS_TILED
    // Return four items, starting at a multiple of four, for costs with cooperative=True; those
    // past the end are undefined.
    __device__ int4 four(int place) const {
        const int4 items = *reinterpret_cast<const int4*>(item + place);
        return {items.x & mask, items.y & mask, items.z & mask, items.w & mask};
    }
#endif
};

__device__ int stored_length(int n) { return n; }

template <class Order>
__device__ Stored stored(const Order& order, int i) {
    return order[i];
}

// Write an entry of a stored solution.
template <class Value>
__device__ void write_entry(Stored* memory, const Solution&, int i, Value value) {
    memory[i] = value;
}

// Return whether a value is allowed for an entry; false for NaN.
template <class Value>
__device__ bool entry_fits(const Solution&, int, int n, Value value) {
    return value >= 0 && value < n;
}

// Return the solution at an address.
template <class Data>
__device__ Solution solution_at(const Stored* first, const Data&) {
    return {first};
}

// Return the solution decoded by an encoding.
template <class Order, class Data>
__device__ auto solution_of(const Order& order, const Data&, int)
    -> decltype(order.mask, Solution()) {
    return {reinterpret_cast<const int32_t*>(order.item), int32_t(order.mask)};
}

template <class Order, class Data>
__device__ Solution solution_of(const Order& order, const Data&, long) {
    return {order.item};
}

#elif SOLUTION_KIND == SOLUTION_SUBSET

using Stored = uint32_t;

struct Solution {
    const uint32_t* word;

    __device__ int operator[](int item) const {
        return word[item / 32 * STRIDE] >> (item % 32) & 1;
    }
};

__device__ int stored_length(int n) { return (n + 31) / 32; }

template <class Subset>
__device__ Stored stored(const Subset& subset, int i) {
    return subset.word[i];
}

template <class Value>
__device__ void write_entry(Stored* memory, const Solution&, int i, Value) {
    memory[i / 32] ^= 1u << (i % 32);
}

template <class Value>
__device__ bool entry_fits(const Solution&, int, int, Value value) {
    return value == 0 || value == 1;
}

template <class Data>
__device__ Solution solution_at(const Stored* first, const Data&) {
    return {first};
}

template <class Subset, class Data>
__device__ Solution solution_of(const Subset& subset, const Data&, int) {
    return {subset.word};
}

#elif SOLUTION_KIND == SOLUTION_KEYS

using Stored = float;

struct Solution {
    const float* key;

    __device__ float operator[](int item) const { return of(item, key[item * STRIDE]); }

    // Return the entry that a stored number represents.
    __device__ float of(int, float number) const { return number; }
};

__device__ int stored_length(int n) { return n; }

template <class Keys>
__device__ Stored stored(const Keys& keys, int i) {
    return keys[i];
}

template <class Value>
__device__ void write_entry(Stored* memory, const Solution&, int i, Value value) {
    memory[i] = value;
}

template <class Value>
__device__ bool entry_fits(const Solution&, int, int, Value value) {
    return float(value) >= 0.0f && float(value) < 1.0f;
}

template <class Data>
__device__ Solution solution_at(const Stored* first, const Data&) {
    return {first};
}

template <class Keys, class Data>
__device__ Solution solution_of(const Keys& keys, const Data&, int) {
    return {keys.number};
}

#elif SOLUTION_KIND == SOLUTION_CHOICES

using Stored = int32_t;

struct Solution {
    const int32_t* value;
    const int32_t* sizes;

    __device__ int operator[](int item) const { return value[item * STRIDE]; }

    // Return the entry that a stored number represents.
    __device__ int of(int, int32_t number) const { return number; }
};

__device__ int stored_length(int n) { return n; }

template <class Choices>
__device__ Stored stored(const Choices& choices, int i) {
    return choices[i];
}

template <class Value>
__device__ void write_entry(Stored* memory, const Solution&, int i, Value value) {
    memory[i] = value;
}

template <class Value>
__device__ bool entry_fits(const Solution& solution, int i, int, Value value) {
    return value >= 0 && value < solution.sizes[i];
}

template <class Data>
__device__ Solution solution_at(const Stored* first, const Data& data) {
    return {first, data._sizes};
}

template <class Choices, class Data>
__device__ Solution solution_of(const Choices& choices, const Data& data, int) {
    return solution_at(choices.value, data);
}

#else

using Stored = double;

// Coordinates, scaled from the unit box to the bounds unless `low` is null.
struct Solution {
    const double* unit;
    const double *low, *width, *high;

    __device__ double operator[](int i) const { return of(i, unit[i * STRIDE]); }

    // Return the coordinate that a stored number represents.
    __device__ double of(int i, double number) const {
        if (low == nullptr) return number;
        const double stretched = low[i] + width[i] * number;
        return stretched < high[i] ? stretched : high[i];
    }
};

__device__ int stored_length(int n) { return n; }

template <class Vector>
__device__ Stored stored(const Vector& vector, int i) {
    return vector[i];
}

template <class Value>
__device__ void write_entry(Stored* memory, const Solution& solution, int i, Value value) {
    const double unit = (double(value) - solution.low[i]) / solution.width[i];
    memory[i] = unit < 0.0 ? 0.0 : unit < 1.0 ? unit : 1.0;
}

template <class Value>
__device__ bool entry_fits(const Solution& solution, int i, int, Value value) {
    return double(value) >= solution.low[i] && double(value) <= solution.high[i];
}

template <class Data>
__device__ Solution solution_at(const Stored* first, const Data& data) {
    return {first, data.box_low, data.box_width, data.box_high};
}

template <class Vector, class Data>
__device__ Solution solution_of(const Vector& vector, const Data& data, int) {
    return solution_at(vector.number, data);
}

#endif

// A solution that a user's repair, apply or cross may change: s[i] reads an entry, s.set(i, value)
// writes it. An invalid index or value is reported and not written.
struct Changing {
    Solution solution;
    Stored* memory;
    int n;
    int64_t* faults;
    bool changed;

    __device__ auto operator[](int i) const { return solution[i]; }

    template <class Value>
    __device__ void set(int i, Value value) {
        if (i < 0 || i >= n) return report(faults, NO_SUCH_ENTRY, i);
        if (!entry_fits(solution, i, n, value)) {
            return report(faults, WRONG_VALUE, __double_as_longlong(double(value)));
        }
        if (solution[i] == value) return;
        changed = true;
        write_entry(memory, solution, i, value);
    }
};

// Return the tile of a child of an island.
__device__ Stored* tile_at(char* memory, int children, int local, int child, int n) {
    const int64_t tiles = (children + TILE - 1) / TILE;
    return reinterpret_cast<Stored*>(memory) +
           (local * tiles + child / TILE) * stored_length(n) * TILE;
}

// Return where a child of an island is stored; its entries are STRIDE words apart.
__device__ Stored* stored_at(char* memory, int children, int local, int child, int n) {
    const int lane = child % TILE;
    return tile_at(memory, children, local, child, n) +
           (STRIDE == 1 ? int64_t(lane) * stored_length(n) : lane);
}

}  // namespace problem
