// Local search on orders: takes moves that lower the cost until there are none, or until the limit
// of steps. IMPROVER_MOVE is the kind of move. Reads and writes the order in place; returns its
// cost.
// Random streams: POSITION.
#pragma once

#include "core/costs.cuh"
#include "improvers/base.cuh"
#include "improvers/pairs.cuh"

namespace improver {

constexpr bool ACTIVE = true;

using Move = IMPROVER_MOVE;

// The move selected by a scan; a delta of 0 or more means that there is none.
struct Choice {
    int64_t number, delta, tried;
};

// Try all moves cyclically from `start` until the first that improves. The threads try one move
// each at a time, but only the moves that a single thread would have tried are counted.
__device__ Choice first_choice(const Plan& plan, const Pairs& pairs, int64_t start,
                               const int32_t* order, int n, const problem::Data& data) {
    const int64_t size = pairs.size();
    Pair pair = pairs.at((start + threadIdx.x) % size);
    uint32_t turns = 0;
    for (int64_t tried = 0; tried < size; tried += blockDim.x) {
        if (POLLING_IS_CHEAP && ++turns % POLL_INTERVAL == 0 && halts(plan)) break;
        const int64_t mine = tried + threadIdx.x;
        const int64_t delta =
            mine < size ? problem::delta(order, n, data, Move{pair.u, pair.v}) : 0;
        const int64_t found = block::argmin({delta < 0 ? mine : size, 0}).value;
        if (found < size) {
            return {(start + found) % size, block::sum(mine == found ? delta : 0), found + 1};
        }
        pair = pairs.after(pair, blockDim.x);
    }
    return {0, 0, size};
}

// Try all moves and select the one that lowers the cost most.
__device__ Choice best_choice(const Plan& plan, const Pairs& pairs, const int32_t* order, int n,
                              const problem::Data& data) {
    const int64_t size = pairs.size();
    block::Ranked best{0, 0xffffffffu};
    Pair pair = pairs.at(threadIdx.x % size);
    uint32_t turns = 0;
    for (int64_t number = threadIdx.x; number < size; number += blockDim.x) {
        // On a GPU a scan is short.
        if (POLLING_IS_CHEAP && ++turns % POLL_INTERVAL == 0 && halt_requested(plan)) break;
        const int64_t delta = problem::delta(order, n, data, Move{pair.u, pair.v});
        const block::Ranked tried{delta, uint32_t(number)};
        if (tried.before(best)) best = tried;
        pair = pairs.after(pair, blockDim.x);
    }
    best = block::argmin(best);
    return {best.index, best.value, size};
}

__device__ int64_t improve(const Plan& plan, Scratch, int32_t* order, int n,
                           const problem::Data& data, int64_t cost, const draw::Place& place,
                           int64_t& calls) {
    if (n < 2) return cost;
    int position = Pairs::ALL;
    if (plan.one_position) {
        // All individuals of an island draw the same position.
        draw::Place shared = place;
        shared.individual = 0xffffffffu;
        position = draw::below(shared.words(stream::POSITION, 0).x, n);
    }
    const Pairs pairs(n, position);
    int64_t next = 0;
    for (int taken = 0; plan.steps == 0 || taken < plan.steps; ++taken) {
        if (polls_after(taken, n) && halts(plan)) break;
        const Choice choice = plan.best ? best_choice(plan, pairs, order, n, data)
                                        : first_choice(plan, pairs, next, order, n, data);
        calls += choice.tried;
        if (choice.delta >= 0) break;
        cost = real::changed(cost, choice.delta);
        const Pair pair = pairs.at(choice.number);
        Move{pair.u, pair.v}.apply(order);
        next = (choice.number + 1) % pairs.size();
    }
    return cost;
}

}  // namespace improver
