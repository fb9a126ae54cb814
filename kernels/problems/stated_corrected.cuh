// The evaluation of a user-defined problem whose solutions are corrected first: by the rules of
// their kind, and by the user's repair. Reads and changes solutions. No random numbers.
#pragma once

#ifdef STATED_MOST
#include "problems/choice.cuh"
#endif
#ifdef STATED_BEFORE
#include "problems/precedence.cuh"
#endif
#ifdef STATED_AT_MOST
#include "problems/at_most.cuh"
#endif
#include "problems/valid_order.cuh"

namespace problem {

struct Evaluation {
    int64_t cost;
    bool changed;
};

#ifdef STATED_REPAIRS

// Repair a solution in one thread; return whether it has changed.
__device__ bool repair(Stored* solution, int n, const Data& data) {
    return by_one_thread([&] {
        Changing changing{solution_at(solution, data), solution, n, data._faults, false};
        user::of_repair::repair(changing, n, data);
        return int64_t(changing.changed);
    });
}

#endif

// Apply the rules of the solution kind; return whether the solution has changed. Called by one
// thread.
__device__ bool apply_rules(Stored* solution, int n, const Data& data) {
#if defined(STATED_MOST)
    return choose_within(solution, n);
#elif defined(STATED_BEFORE)
    return keep_precedence(solution, n, data._before_first, data._before);
#elif defined(STATED_AT_MOST)
    return keep_limits(solution, n, STATED_AT_MOST, data._most);
#else
    return false;
#endif
}

// Make a solution valid by the rules of its kind and the user functions; return whether it has
// changed. Called by all threads.
__device__ bool corrected(Stored* solution, int n, const Data& data) {
    const auto rule = [&] { return int64_t(apply_rules(solution, n, data)); };
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

// Correct a possibly invalid solution, and return its cost.
__device__ int64_t cost_repaired(Stored* solution, int n, const Data& data) {
    corrected(solution, n, data);
    return cost_after(solution, n, data);
}

}  // namespace problem
