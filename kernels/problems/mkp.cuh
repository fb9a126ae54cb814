// The multidimensional knapsack problem: maximum profit within all capacities. Costs are negative
// profits. MKP_INFEASIBLE selects how infeasible subsets are handled; with penalties, costs are
// marked (core/marks.cuh). MKP_FIT_FIRST: subsets of the first generation are made feasible. Reads
// and writes a subset in shared memory; returns its cost.
// Random streams: DROP, FILL.
#pragma once

#include "core/marks.cuh"
#include "problems/knapsack.cuh"

#define MKP_DROP 0    // remove random items until the subset is feasible (Dantas and Caceres 2014)
#define MKP_LINEAR 1  // add a penalty per unit of excess (Munhao et al. 2019, m1)
#define MKP_DYNAMIC \
    2  // cost from weight per unit of profit, above all feasible costs (Munhao et al. 2019, m2)
#define MKP_REPAIR 3  // remove the least useful, then add the most useful (Chu and Beasley 1998)

#define PROBLEM_EVALUATES  // the evaluation may change a solution

namespace problem {

// Remove random chosen items, with equal probability, until the subset is feasible.
__device__ void drop(Knapsack& knapsack, uint32_t* chosen, int n, const draw::Place& place,
                     int child) {
    int left = 0;
    for (int w = 0; 32 * w < n; ++w) left += __popc(chosen[w]);
    uint4 word = {};
    for (int step = 0; !knapsack.is_feasible(); ++step, --left) {
        if (step % 4 == 0) word = place.words(stream::DROP, uint32_t(child) << 24 | step / 4);
        int before = draw::below(word.x, left), w = 0;
        word = {word.y, word.z, word.w, word.x};
        for (; before >= __popc(chosen[w]); ++w) before -= __popc(chosen[w]);
        uint32_t rest = chosen[w];
        for (; before > 0; --before) rest &= rest - 1;
        knapsack.toggle(chosen, 32 * w + __ffs(rest) - 1);
    }
}

// Add the items that fit, one after another in the order of `item_at`.
template <class ItemAt>
__device__ void add_items(Knapsack& knapsack, uint32_t* chosen, int n, ItemAt item_at) {
    const int me = threadIdx.x;
    for (int begin = 0; begin < n; begin += blockDim.x) {
        const int item = item_at(min(begin + me, n - 1));
        bool is_candidate = begin + me < n && !Knapsack::has(chosen, item) && knapsack.fits(item);
        for (int next; (next = block::first(is_candidate)) < blockDim.x;) {
            knapsack.toggle(chosen, item_at(begin + next));
            is_candidate = is_candidate && me > next && knapsack.fits(item);
        }
    }
}

// Remove the least useful items until the subset is feasible, then add the most useful that fit;
// `order` lists the items by decreasing utility.
__device__ void repair(Knapsack& knapsack, uint32_t* chosen, int n, const Rank* order) {
    const int me = threadIdx.x;
    bool fits = knapsack.is_feasible();
    for (int end = n; !fits; end -= blockDim.x) {
        bool is_candidate = me < end && Knapsack::has(chosen, order[end - 1 - me]);
        for (int next; !fits && (next = block::first(is_candidate)) < blockDim.x;) {
            knapsack.toggle(chosen, order[end - 1 - next]);
            fits = knapsack.is_feasible();
            is_candidate = is_candidate && me > next;
        }
    }
    add_items(knapsack, chosen, n, [&](int position) { return order[position]; });
}

// Make an infeasible subset feasible: remove random items, then add those that fit, starting at a
// random item.
__device__ void fit(Knapsack& knapsack, uint32_t* chosen, int n, const draw::Place& place,
                    int child) {
    drop(knapsack, chosen, n, place, child);
    const int first = draw::below(place.words(stream::FILL, child).x, n);
    add_items(knapsack, chosen, n, [&](int position) {
        return first + position < n ? first + position : first + position - n;
    });
}

// Return the cost of an infeasible subset.
__device__ int64_t penalised(const Knapsack& knapsack) {
    constexpr double MOST = 1e18, PARTS = 1048576.0;
    if (MKP_INFEASIBLE == MKP_LINEAR) {
        const double penalty = knapsack.penalty();
        return int64_t(penalty < MOST ? penalty : MOST) - knapsack.profit();
    }
    // Weight per unit of profit, in units of 1 / PARTS: above the cost of any feasible subset.
    const double cost = PARTS * double(knapsack.weight()) / double(knapsack.profit());
    return cost < MOST ? int64_t(cost) + 1 : int64_t(MOST);
}

// The cost of a subset, and whether the evaluation changed it.
struct Evaluation {
    int64_t cost;
    bool changed;
};

struct Workspace {
    Knapsack knapsack;

    __device__ Workspace(Scratch& scratch, int n, const Data& data) : knapsack(scratch, n, data) {}
};

// Evaluate a subset in shared memory, handling infeasible ones by MKP_INFEASIBLE.
__device__ Evaluation evaluate(uint32_t* chosen, Scratch scratch, int n, const Data& data,
                               const draw::Place& place, int child) {
    Knapsack knapsack = Workspace(scratch, n, data).knapsack;
    knapsack.begin(chosen);
#if MKP_INFEASIBLE == MKP_REPAIR
    // Islands use different orders, so that not all are trapped in the same local optima.
    repair(knapsack, chosen, n, data.order + int64_t(place.island % MKP_ORDERS) * n);
    return {-knapsack.profit(), true};
#else
    if (knapsack.is_feasible()) return {marks::feasible(-knapsack.profit()), false};
    if (MKP_FIT_FIRST && place.generation == 0) {
        fit(knapsack, chosen, n, place, child);
        return {marks::feasible(-knapsack.profit()), true};
    }
#if MKP_INFEASIBLE == MKP_DROP
    drop(knapsack, chosen, n, place, child);
    return {-knapsack.profit(), true};
#else
    return {marks::infeasible(penalised(knapsack)), false};
#endif
#endif
}

}  // namespace problem
