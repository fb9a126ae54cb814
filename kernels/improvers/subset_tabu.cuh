// Tabu search on subsets: each step applies the best feasible exchange that is allowed, even if it
// lowers the profit. One item enters, one leaves, or both. Reads the subset, replaces it by the
// best one found, and returns its cost. Random streams: TENURE.
#pragma once

#include "core/marks.cuh"
#include "improvers/base.cuh"
#include "improvers/sides.cuh"

namespace improver {

constexpr bool ACTIVE = true;

namespace tabu {

// An exchange, as indices into the core.
struct Exchange {
    int64_t gain;
    int leaves, enters;
};

constexpr int64_t NO_GAIN = -0x7fffffffffffffffll;

// The rules for selecting the exchange of a step.
class Step {
  public:
    __device__ Step(const Sides& sides, const problem::Knapsack& knapsack,
                    const problem::Data& data, const int32_t* expiry, int now, int64_t aspired)
        : sides_(sides), gap_(knapsack, data), expiry_(expiry), now_(now), aspired_(aspired) {}

    // Return the best exchange with a leaving item (or NO_ITEM) that gains more than `floor`. Ties
    // are broken by the first entering item; an exchange without one comes last.
    __device__ Exchange find(int leaves, int64_t floor) {
        const int64_t loss = sides_.profit(leaves);
        gap_.leave(sides_.item(leaves), NO_ITEM);
        for (int i = 0; i < sides_.entering(); ++i) {
            const int enters = sides_.enters(i);
            const int64_t gain = sides_.profit(enters) - loss;
            if (gain <= floor) break;
            const bool allowed = gain > aspired_ || (is_free(leaves) && is_free(enters));
            if (allowed && gap_.holds(sides_.item(enters), NO_ITEM)) return {gain, leaves, enters};
        }
        const bool may = leaves != NO_ITEM && is_free(leaves) && -loss > floor;
        return {may ? -loss : NO_GAIN, leaves, NO_ITEM};
    }

  private:
    __device__ bool is_free(int k) const { return k == NO_ITEM || expiry_[k] <= now_; }

    const Sides& sides_;
    Gap gap_;
    const int32_t* const expiry_;
    const int now_;
    const int64_t aspired_;  // a larger gain improves on the best profit so far
};

// Return the best exchange of all; ties are broken by the lowest row. In row 0 no item leaves.
__device__ Exchange best_of(const Plan& plan, Step& step, const Sides& sides) {
    Exchange best{NO_GAIN, NO_ITEM, NO_ITEM};
    uint32_t at = 0xffffffffu;
    uint32_t turns = 0;
    for (int row = threadIdx.x; row <= sides.leaving(); row += blockDim.x) {
        if ((POLLING_IS_CHEAP || ++turns % 256 == 0) && halt_requested(plan)) break;
        const int leaves = row == 0 ? NO_ITEM : sides.leaves(row - 1);
        const Exchange found = step.find(leaves, best.gain);
        if (found.gain > best.gain) best = found, at = row;
    }
    const block::Ranked least = block::argmin({-best.gain, at});
    const bool mine = at == least.index && -best.gain == least.value && at != 0xffffffffu;
    NumberPair items(best.leaves, best.enters);
    items.broadcast(mine);
    if (least.index == 0xffffffffu) return {NO_GAIN, NO_ITEM, NO_ITEM};
    return {-least.value, items.first(), items.second()};
}

}  // namespace tabu

struct Workspace {
    problem::Knapsack knapsack;
    Sides sides;
    int32_t* expiry;
    uint32_t* best_chosen;

    __device__ Workspace(Scratch& scratch, const Plan& plan, const uint32_t*, int n,
                         const problem::Data& data)
        : knapsack(scratch, n, data),
          sides(scratch, n, plan.core, data),
          expiry(scratch.take<int32_t>(sides.count())),
          best_chosen(scratch.take<uint32_t>((n + 31) / 32)) {}
};

// Return the best cost found, with its subset in `chosen`. Each step counts as one evaluation per
// exchange.
__device__ int64_t improve(const Plan& plan, Scratch scratch, uint32_t* chosen, int n,
                           const problem::Data& data, int64_t cost, const draw::Place& place,
                           int64_t& calls) {
    if (!marks::is_feasible(cost)) return cost;
    Workspace workspace(scratch, plan, chosen, n, data);
    problem::Knapsack& knapsack = workspace.knapsack;
    Sides& sides = workspace.sides;
    int32_t* const expiry = workspace.expiry;
    uint32_t* const best_chosen = workspace.best_chosen;
    const int words = (n + 31) / 32;
    for (int k = threadIdx.x; k < sides.count(); k += blockDim.x) expiry[k] = 0;
    knapsack.begin(chosen);
    sides.begin(chosen);
    const auto keep = [&] {
        for (int w = threadIdx.x; w < words; w += blockDim.x) best_chosen[w] = chosen[w];
    };
    keep();
    int64_t best = knapsack.profit();
    const uint32_t kinds = plan.tenure_high - plan.tenure_low + 1;
    for (int now = 0; now < plan.steps; ++now) {
        if (polls_after(now, sides.count()) && halts(plan)) break;
        sides.deal(chosen);
        tabu::Step step(sides, knapsack, data, expiry, now, best - knapsack.profit());
        const tabu::Exchange exchange = tabu::best_of(plan, step, sides);
        calls += int64_t(sides.leaving() + 1) * (sides.entering() + 1) - 1;
        if (exchange.gain == tabu::NO_GAIN) continue;  // nothing is allowed, but tenures expire
        const uint4 word = place.words(stream::TENURE, now);
        const auto turn = [&](int k, uint32_t drawn) {
            if (k == NO_ITEM) return;
            knapsack.toggle(chosen, sides.item(k));
            if (threadIdx.x == 0) {
                expiry[k] = now + 1 + plan.tenure_low + draw::below(drawn, kinds);
            }
        };
        turn(exchange.leaves, word.x);
        turn(exchange.enters, word.y);
        if (knapsack.profit() > best) {
            best = knapsack.profit();
            keep();
        }
        __syncthreads();
    }
    __syncthreads();
    for (int w = threadIdx.x; w < words; w += blockDim.x) chosen[w] = best_chosen[w];
    __syncthreads();
    return marks::feasible(-best);
}

}  // namespace improver
