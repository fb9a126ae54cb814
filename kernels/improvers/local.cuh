// Local search on orders: applies moves that lower the cost until there are none, or until the step
// limit. IMPROVER_MOVE is the kind of move. Reads and writes the order in place; returns its cost.
// Random streams: POSITION.
#pragma once

#include "improvers/scan.cuh"
#ifdef PROBLEM_DELTA_PARTS
#include "improvers/line_scan.cuh"
#endif

namespace improver {

constexpr bool ACTIVE = true;

using Move = IMPROVER_MOVE;

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
    Scan<Move> scan(plan, pairs, order, n, data);
    int64_t next = 0;
    for (int step = 0; plan.steps == 0 || step < plan.steps; ++step) {
        if (polls_after(step, n) && halts(plan)) break;
        const Choice choice = plan.best ? scan.best() : scan.first(next);
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
