// Moves: small changes of a solution. Those of an order (Jardim 2021) affect the entries from u to
// v, u < v. Reads and writes the solution in place. No random numbers.
//
// With IN_LINES, moves form lines: each move is its predecessor in the line plus one exchange, and
// the first one exchanges two entries at most two apart. Lines are in the order of their lowest
// pairs (u, v), the first of each line (ASCENDS) or the last.
#pragma once

#include "core/core.cuh"

// All threads of a block apply a move to an order in shared memory, and see the result.
namespace moves {

// Exchanges two entries.
struct Swap {
    static constexpr bool IN_LINES = false;

    int u, v;

    __device__ void apply(int32_t* order) const {
        if (threadIdx.x == 0) exchange(order);
        __syncthreads();
    }

    // Called by one thread; the result is visible to others after the next barrier.
    __device__ void exchange(int32_t* order) const { block::exchange(order[u], order[v]); }
};

// Reverses the entries from u to v.
struct Reversal {
    static constexpr bool IN_LINES = true, ASCENDS = false;  // one line per centre

    int u, v;

    __device__ static int lines(int n) { return 2 * n - 3; }
    __device__ static int length(int line, int n) { return line / 2 - max(0, line + 2 - n) + 1; }
    __device__ static Reversal on(int line, int step) {
        const int u = line / 2 - step;
        return {u, line + 1 - u};
    }
    __device__ int line() const { return u + v - 1; }
    __device__ int step() const { return line() / 2 - u; }
    __device__ Reversal before() const { return {u + 1, v - 1}; }
    __device__ Swap last() const { return {u, v}; }

    // Return the current position of the entry that moves to `position`, a number from u to v.
    __device__ int source(int position) const { return u + v - position; }

    __device__ void apply(int32_t* order) const {
        for (int i = threadIdx.x; i < (v - u + 1) / 2; i += blockDim.x) {
            Swap{u + i, v - i}.exchange(order);
        }
        __syncthreads();
    }
};

// Removes the entry at u, shifts those after it to the left, and inserts it at v.
struct Insertion {
    static constexpr bool IN_LINES = true, ASCENDS = true;  // one line per entry

    int u, v;

    __device__ static int lines(int n) { return n - 1; }
    __device__ static int length(int line, int n) { return n - 1 - line; }
    __device__ static Insertion on(int line, int step) { return {line, line + 1 + step}; }
    __device__ int line() const { return u; }
    __device__ int step() const { return v - u - 1; }
    __device__ Insertion before() const { return {u, v - 1}; }
    __device__ Swap last() const { return {v - 1, v}; }

    // Return the current position of the entry that moves to `position`, a number from u to v.
    __device__ int source(int position) const { return position < v ? position + 1 : u; }

    __device__ void apply(int32_t* order) const {
        const int32_t entry = order[u];
        for (int first = u; first < v; first += blockDim.x) {
            const int i = first + threadIdx.x;
            const int32_t next = order[min(i + 1, v)];
            __syncthreads();
            if (i < v) order[i] = next;
            __syncthreads();
        }
        if (threadIdx.x == 0) order[v] = entry;
        __syncthreads();
    }
};

// Rotates the entries from u to v to the left by a number of places. With 1, the first entry moves
// to the end; with v - u, the last one to the beginning.
struct Rotation {
    int u, v, by;

    // Return the current position of the entry that moves to `position`, a number from u to v.
    __device__ int source(int position) const {
        const int ahead = position + by;
        return ahead <= v ? ahead : ahead - (v - u + 1);
    }

    __device__ void apply(int32_t* order) const {
        Reversal{u, u + by - 1}.apply(order);
        Reversal{u + by, v}.apply(order);
        Reversal{u, v}.apply(order);
    }
};

// A move whose kind is only known at run time.
struct Any {
    enum Kind : int32_t { SWAP, REVERSAL, INSERTION, ROTATION };

    Kind kind;
    int32_t u, v, by;  // `by` is that of a rotation

    // Call visit(move) with the move as its actual type.
    template <class Visit>
    __device__ auto visit(Visit visit) const {
        if (kind == SWAP) return visit(Swap{u, v});
        if (kind == REVERSAL) return visit(Reversal{u, v});
        if (kind == INSERTION) return visit(Insertion{u, v});
        return visit(Rotation{u, v, by});
    }

    // A struct instead of a lambda: some versions of NVRTC treat generic lambdas as host functions.
    struct Apply {
        int32_t* order;

        template <class Move>
        __device__ void operator()(const Move& move) const {
            move.apply(order);
        }
    };
    __device__ void apply(int32_t* order) const { visit(Apply{order}); }
};

// A move of a subset, as passed to user functions: chooses an item, or drops a chosen one.
struct Flip {
    int item;
};

// Drops a chosen item, and chooses another one.
struct Exchange {
    int out, in;
};

// Flips an item of a subset, or a chosen and an unchosen one.
struct Flips {
    static constexpr int32_t NONE = -1;

    int32_t one, other;

    __device__ void apply(uint32_t* word) const {
        if (threadIdx.x == 0) {
            word[one / 32] ^= 1u << (one % 32);
            if (other != NONE) word[other / 32] ^= 1u << (other % 32);
        }
        __syncthreads();
    }
};

// Sets the value of an item, or exchanges the values of two items. NOTHING: the item keeps its
// value.
struct Choice {
    static constexpr int32_t NONE = -1, NOTHING = -2;

    int32_t item, value, other;

    __device__ bool exchanges() const { return other >= 0; }

    __device__ void apply(int32_t* values) const {
        if (threadIdx.x == 0) {
            if (exchanges()) {
                Swap{item, other}.exchange(values);
            } else {
                values[item] = value;
            }
        }
        __syncthreads();
    }
};

// Sets a coordinate of a vector.
template <class Number>
struct Setting {
    int32_t item;
    Number value;

    __device__ void apply(Number* number) const {
        if (threadIdx.x == 0) number[item] = value;
        __syncthreads();
    }
};

// The order after a move, without applying it.
template <class Move>
struct After {
    const int32_t* order;
    Move move;

    __device__ int32_t operator[](int i) const {
        return order[i < move.u || i > move.v ? i : move.source(i)];
    }
};

}  // namespace moves
