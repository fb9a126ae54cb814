// The cost of a stated problem: calls the function of the user, by all threads of a block
// (STATED_COOPERATIVE) or by one. The header that includes this file defines `struct Data` and, in
// namespace `user`, the functions of the user. Reads a solution and the data; returns its cost, and
// reports wrong values of these functions. No random numbers.
#pragma once

#include "moves.cuh"
#ifdef STATED_MOST
#include "problems/choice.cuh"
#endif
#ifdef STATED_BEFORE
#include "problems/precedence.cuh"
#endif
#include "problems/solution.cuh"
#include "problems/stated_costs.cuh"

namespace problem {

// Return a cost of the user as one that is minimised.
template <class Value>
__device__ int64_t cost_of(Value value, const Data& data) {
    return minimised(value, data._faults);
}

#if COSTS_PRICED

// Return a violation of the user as a number, and report a wrong one.
template <class Value>
__device__ double violation_of(Value value, const Data& data) {
    const double violation = double(value);
    if (violation >= 0.0) return violation;
    report(data._faults, WRONG_VIOLATION, __double_as_longlong(violation));
    return 0.0;
}

#endif

// Return the compared cost of a solution; called by one thread or by all, as the user's functions.
__device__ int64_t stated_cost(const Solution& solution, int n, const Data& data) {
    const int64_t cost = cost_of(user::cost(solution, n, data), data);
#if COSTS_PRICED
    const auto violation = user::of_violation::violation(solution, n, data);
    return priced::compared(cost, violation_of(violation, data), data._price);
#else
    return cost;
#endif
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
    return {keys.number};
}
#else
template <class Vector>
__device__ Solution solution_of(const Vector& vector, const Data& data, int) {
    return solution_at(vector.number, data);
}
#endif

// Compute a value in one thread and return it to all threads of the block.
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
    return stated_cost(solution_at(first, data), n, data);
}

#endif

// Return the cost of a solution; called by all threads of a block.
__device__ int64_t cost_in_block(const Solution& solution, int n, const Data& data) {
#if STATED_COOPERATIVE
    return stated_cost(solution, n, data);
#else
    return by_one_thread([&] { return stated_cost(solution, n, data); });
#endif
}

// Return the cost of a solution without its violation; called by all threads of a block.
__device__ int64_t plain_cost_in_block(const Solution& solution, int n, const Data& data) {
#if COSTS_PRICED && STATED_COOPERATIVE
    return cost_of(user::cost(solution, n, data), data);
#elif COSTS_PRICED
    return by_one_thread([&] { return cost_of(user::cost(solution, n, data), data); });
#else
    return cost_in_block(solution, n, data);
#endif
}

#if COSTS_PRICED

// Return the bits of the violation of a solution; called by all threads of a block.
__device__ int64_t violation_in_block(const Solution& solution, int n, const Data& data) {
    const auto bits = [&] {
        const auto violation = user::of_violation::violation(solution, n, data);
        return int64_t(__double_as_longlong(violation_of(violation, data)));
    };
#if STATED_COOPERATIVE
    return bits();
#else
    return by_one_thread(bits);
#endif
}

#endif

#if defined(STATED_REPAIRS) || defined(STATED_CROSS)

#if SOLUTION_KIND == SOLUTION_ORDER

// Report an order in which an item is repeated, and replace it by 0, 1, 2 ..., as operators loop
// for ever without an order. The upper bit of entry k says that item k was found.
__device__ void require_order(int32_t* order, int n, const Data& data) {
    constexpr int32_t FOUND = int32_t(0x80000000), ITEM = 0x7fffffff;
    __shared__ int32_t repeated;
    if (threadIdx.x == 0) repeated = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int32_t item = order[i] & ITEM;
        if (atomicOr(&order[item], FOUND) & FOUND) {
            report(data._faults, REPEATED_ITEM, item);
            repeated = 1;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) order[i] = repeated ? i : order[i] & ITEM;
    __syncthreads();
}

#else

// Entries of other solutions are independent, and `Changing` has checked them.
__device__ void require_order(const Stored*, int, const Data&) {}

#endif

#endif

#ifndef PROBLEM_EVALUATES

template <class Decoded>
__device__ int64_t cost(const Decoded& decoded, int n, const Data& data) {
    return cost_in_block(solution_of(decoded, data, 0), n, data);
}

#else

struct Evaluation {
    int64_t cost;
    bool changed;
};

#ifdef STATED_REPAIRS

// Repair a solution by one thread; return whether it has changed.
__device__ bool repair(Stored* solution, int n, const Data& data) {
    return by_one_thread([&] {
        Changing own{solution_at(solution, data), solution, n, data._faults, false};
        user::of_repair::repair(own, n, data);
        return int64_t(own.changed);
    });
}

#endif

// Let a solution keep the rules of its kind; return whether it has changed. Called by one thread.
__device__ bool ruled(Stored* solution, int n, const Data& data) {
#if defined(STATED_MOST)
    return choose_within(solution, n);
#elif defined(STATED_BEFORE)
    return keep_precedence(solution, n, data._before_first, data._before);
#else
    return false;
#endif
}

// Make a solution valid, by the rules of its kind and the functions of the user; return whether it
// has changed. Called by all threads.
__device__ bool corrected(Stored* solution, int n, const Data& data) {
    const auto rule = [&] { return int64_t(ruled(solution, n, data)); };
    bool changed = bool(by_one_thread(rule));
#ifdef STATED_REPAIRS
    if (repair(solution, n, data)) {
        changed = true;
        require_order(solution, n, data);
        by_one_thread(rule);
    }
#endif
    return changed;
}

// Correct a solution, and return its cost.
__device__ Evaluation evaluate(Stored* solution, Scratch, int n, const Data& data,
                               const draw::Place&, int) {
    const bool changed = corrected(solution, n, data);
    return {cost_in_block(solution_at(solution, data), n, data), changed};
}

#endif

// Return the cost of a solution that an improver has changed.
__device__ int64_t cost_after(const Stored* solution, int n, const Data& data) {
    return cost_in_block(solution_at(solution, data), n, data);
}

// Correct a solution, if it may be wrong, and return its cost.
__device__ int64_t cost_repaired(Stored* solution, int n, const Data& data) {
#ifdef PROBLEM_EVALUATES
    corrected(solution, n, data);
#endif
    return cost_after(solution, n, data);
}

// Tiles are evaluated without local search.
#ifdef ISLANDS_TILED
#elif defined(STATED_DELTA) && !COSTS_PRICED

// Return the change of the cost by a move.
template <class Move>
__device__ int64_t delta(const int32_t* order, int n, const Data& data, const Move& move) {
    return minimised(user::of_delta::delta(Solution{order}, n, data, move));
}

#elif defined(STATED_MOVED)

// Return the compared cost of a solution after a move; called by one thread.
__device__ int64_t stated_cost(const moved::Solution& solution, int n, const Data& data) {
    const int64_t cost = cost_of(moved::user::cost(solution, n, data), data);
#if COSTS_PRICED
    const auto violation = moved::user::of_violation::violation(solution, n, data);
    return priced::compared(cost, violation_of(violation, data), data._price);
#else
    return cost;
#endif
}

// Return the cost of a solution after a move; called by one thread.
template <class Move>
__device__ int64_t cost_moved(const Stored* solution, int n, const Data& data, const Move& move) {
#if SOLUTION_KIND == SOLUTION_ORDER
    const moved::Solution changed(solution, move);
#else
    const moved::Solution changed(solution_at(solution, data), move);
#endif
    return stated_cost(changed, n, data);
}

#if SOLUTION_KIND == SOLUTION_ORDER

// Return the cost of an order; called by one thread.
__device__ int64_t cost_before(const int32_t* order, int n, const Data& data) {
    return stated_cost(Solution{order}, n, data);
}

// Return the change of the cost by a move, computed from both costs.
template <class Move>
__device__ int64_t delta(const int32_t* order, int n, const Data& data, const Move& move,
                         int64_t before) {
    const int64_t after = stated_cost(moved::Solution(order, move), n, data);
    if (COSTS_REAL) return real::ordered(real::value_of(after) - real::value_of(before));
    return after - before;
}

template <class Move>
__device__ int64_t delta(const int32_t* order, int n, const Data& data, const Move& move) {
    return delta(order, n, data, move, cost_before(order, n, data));
}

#endif
#endif

}  // namespace problem

#if STATED_MOVES && !defined(ISLANDS_TILED) && !defined(STATED_WHOLE)
#include "problems/judge.cuh"
#endif
