// The multidimensional knapsack problem: the most profit of items chosen within every capacity.
// Costs are profits with their sign turned. MKP_INFEASIBLE says what becomes of a choice that takes
// too much; with penalties, costs are marked (core/marks.cuh). MKP_FIT_FIRST says whether those of
// the first generation are made to fit.
#pragma once

#include "core/marks.cuh"
#include "problems/knapsack.cuh"

#define MKP_DROP 0     // random items are left out until it fits (Dantas and Caceres 2014)
#define MKP_LINEAR 1   // so much a unit of excess is paid (Munhao et al. 2019, m1)
#define MKP_DYNAMIC 2  // profit a unit of weight, below all that fit (Munhao et al. 2019, m2)
#define MKP_REPAIR 3   // the least useful leave, the most useful enter (Chu and Beasley 1998)

#define PROBLEM_JUDGES  // a choice may be changed when it is evaluated

namespace problem {

// Leaves chosen items out until the rest fits, each drawn among all that are left.
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
        knapsack.turn(chosen, 32 * w + __ffs(rest) - 1);
    }
}

// Adds the items that fit, one after another in the order of `item_at`.
template <class ThingAt>
__device__ void enter(Knapsack& knapsack, uint32_t* chosen, int n, ThingAt item_at) {
    const int me = threadIdx.x;
    for (int begin = 0; begin < n; begin += blockDim.x) {
        const int item = item_at(min(begin + me, n - 1));
        bool may = begin + me < n && !Knapsack::has(chosen, item) && knapsack.fits(item);
        for (int next; (next = block::first(may)) < blockDim.x;) {
            knapsack.turn(chosen, item_at(begin + next));
            may = may && me > next && knapsack.fits(item);
        }
    }
}

// Leaves out the least useful until the rest fits, and then adds the most useful that fit; `order`
// has the items from the most useful one on.
__device__ void repair(Knapsack& knapsack, uint32_t* chosen, int n, const Rank* order) {
    const int me = threadIdx.x;
    bool fits = knapsack.is_feasible();
    for (int end = n; !fits; end -= blockDim.x) {
        bool may = me < end && Knapsack::has(chosen, order[end - 1 - me]);
        for (int next; !fits && (next = block::first(may)) < blockDim.x;) {
            knapsack.turn(chosen, order[end - 1 - next]);
            fits = knapsack.is_feasible();
            may = may && me > next;
        }
    }
    enter(knapsack, chosen, n, [&](int position) { return order[position]; });
}

// Makes a choice fit that does not: random items leave, and then those that fit enter, from a
// random one on.
__device__ void fit(Knapsack& knapsack, uint32_t* chosen, int n, const draw::Place& place,
                    int child) {
    drop(knapsack, chosen, n, place, child);
    const int first = draw::below(place.words(stream::FILL, child).x, n);
    enter(knapsack, chosen, n, [&](int position) {
        return first + position < n ? first + position : first + position - n;
    });
}

// Returns the cost of a choice that takes too much.
__device__ int64_t fined(const Knapsack& knapsack) {
    constexpr double MOST = 1e18, PARTS = 1048576.0;
    if (MKP_INFEASIBLE == MKP_LINEAR) {
        const double fine = knapsack.fine();
        return int64_t(fine < MOST ? fine : MOST) - knapsack.profit();
    }
    // The weight a unit of profit, in so many parts: more than any that fits costs.
    const double cost = PARTS * double(knapsack.weight()) / double(knapsack.profit());
    return cost < MOST ? int64_t(cost) + 1 : int64_t(MOST);
}

// The cost of a choice, and whether the choice was changed.
struct Verdict {
    int64_t cost;
    bool changed;
};

struct Workspace {
    Knapsack knapsack;

    __device__ Workspace(Scratch& scratch, int n, const Data& data) : knapsack(scratch, n, data) {}
};

// Evaluates a choice, which lies in block memory, in its own way of making infeasible ones good.
__device__ Verdict judge(uint32_t* chosen, Scratch scratch, int n, const Data& data,
                         const draw::Place& place, int child) {
    Knapsack knapsack = Workspace(scratch, n, data).knapsack;
    knapsack.begin(chosen);
#if MKP_INFEASIBLE == MKP_REPAIR
    // Islands see with different eyes, so that not all are caught in the same traps.
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
    return {marks::infeasible(fined(knapsack)), false};
#endif
#endif
}

}  // namespace problem
