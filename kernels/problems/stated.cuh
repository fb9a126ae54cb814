// The cost of a stated problem: calls the function of the user, by all threads of a block
// (STATED_COOPERATIVE) or by one. The header that includes this file defines `struct Data` and, in
// namespace `user`, the functions of the user. Reads a solution and the data; returns its cost.
// No random numbers.
#pragma once

#include "core/costs.cuh"
#include "moves.cuh"
#include "problems/solution.cuh"

namespace problem {

template <class T>
constexpr bool IS_REAL = false;
template <>
constexpr bool IS_REAL<double> = true;
template <>
constexpr bool IS_REAL<float> = true;

// Return a value of the user as a cost, which is minimised.
template <class Value>
__device__ int64_t cost_of(Value value) {
    static_assert(IS_REAL<Value> == (COSTS_REAL != 0),
                  "the functions of this problem must return the same type: long long or double");
    if constexpr (IS_REAL<Value>) {
        return real::ordered(STATED_MAXIMISES ? -double(value) : double(value));
    } else {
        return STATED_MAXIMISES ? -int64_t(value) : int64_t(value);
    }
}

// Return the solution that begins at an address.
__device__ Solution solution_at(const Stored* first, const Data& data) {
#if SOLUTION_KIND == SOLUTION_VECTOR
    return {first, data.box_low, data.box_width, data.box_high};
#else
    return {first};
#endif
}

// Return the solution that an encoding has decoded.
#if SOLUTION_KIND == SOLUTION_ORDER
template <class Order>
__device__ auto solution_of(const Order& order, const Data&, int)
    -> decltype(order.mask, Solution()) {
    return {reinterpret_cast<const int32_t*>(order.item), int32_t(order.mask)};
}

template <class Order>
__device__ Solution solution_of(const Order& order, const Data&, long) {
    return {order.item};
}
#elif SOLUTION_KIND == SOLUTION_SUBSET
template <class Subset>
__device__ Solution solution_of(const Subset& subset, const Data&, int) {
    return {subset.word};
}
#elif SOLUTION_KIND == SOLUTION_KEYS
template <class Keys>
__device__ Solution solution_of(const Keys& keys, const Data&, int) {
    return {keys.key};
}
#else
template <class Vector>
__device__ Solution solution_of(const Vector& vector, const Data& data, int) {
    return solution_at(vector.coordinate, data);
}
#endif

// Return the value that one thread makes to all threads of the block.
template <class Make>
__device__ int64_t by_one_thread(Make make) {
    __shared__ int64_t made;
    __syncthreads();
    if (threadIdx.x == 0) made = make();
    __syncthreads();
    return made;
}

#if !STATED_COOPERATIVE

// Return the cost of a solution; called by one thread.
__device__ int64_t cost_of_one(const Stored* first, int n, const Data& data) {
    return cost_of(user::cost(solution_at(first, data), n, data));
}

#endif

// Return the cost of a solution; called by all threads of a block.
__device__ int64_t cost_in_block(const Solution& solution, int n, const Data& data) {
#if STATED_COOPERATIVE
    return cost_of(user::cost(solution, n, data));
#else
    return by_one_thread([&] { return cost_of(user::cost(solution, n, data)); });
#endif
}

#ifndef STATED_REPAIRS

template <class Decoded>
__device__ int64_t cost(const Decoded& decoded, int n, const Data& data) {
    return cost_in_block(solution_of(decoded, data, 0), n, data);
}

#else

struct Evaluation {
    int64_t cost;
    bool changed;
};

// Repair a solution by one thread, and return its cost.
__device__ Evaluation evaluate(Stored* solution, Scratch, int n, const Data& data,
                               const draw::Place&, int) {
    const bool changed = by_one_thread([&] {
        Changing own{solution_at(solution, data), solution, false};
        user::repair(own, n, data);
        return int64_t(own.changed);
    });
    return {cost_in_block(solution_at(solution, data), n, data), changed};
}

#endif

// Return the cost of a solution that an improver has changed.
__device__ int64_t cost_after(const Stored* solution, int n, const Data& data) {
    return cost_in_block(solution_at(solution, data), n, data);
}

// Tiles are evaluated without local search.
#ifdef ISLANDS_TILED
#elif defined(STATED_DELTA)

// Return the change of the cost by a move.
template <class Move>
__device__ int64_t delta(const int32_t* order, int n, const Data& data, const Move& move) {
    return cost_of(user::delta(Solution{order}, n, data, move));
}

#elif defined(STATED_MOVED)

// The same, computed from both costs.
template <class Move>
__device__ int64_t delta(const int32_t* order, int n, const Data& data, const Move& move) {
    const int64_t before = cost_of(user::cost(Solution{order}, n, data));
    const int64_t after = cost_of(moved::cost(moved::Solution(order, move), n, data));
    if (COSTS_REAL) return real::ordered(real::value_of(after) - real::value_of(before));
    return after - before;
}

#endif

}  // namespace problem
