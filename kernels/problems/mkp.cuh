// The multidimensional knapsack problem: the most profit of things chosen within every capacity.
// Costs are profits with their sign turned. MKP_INFEASIBLE says what becomes of a choice that takes
// too much; with penalties, costs are marked (core/marks.cuh).
#pragma once

#include "core/core.cuh"
#include "core/marks.cuh"

#define MKP_DROP 0     // random things are left out until it fits (Dantas and Caceres 2014)
#define MKP_LINEAR 1   // so much a unit of excess is paid (Munhao et al. 2019, m1)
#define MKP_DYNAMIC 2  // profit a unit of weight, below all that fit (Munhao et al. 2019, m2)
#define MKP_REPAIR \
    3  // the least useful are left out, then the most useful added that fit
       // (Chu and Beasley 1998); things are numbered from the most useful on

#define PROBLEM_JUDGES  // a choice may be changed when it is evaluated

namespace problem {

constexpr int CONSTRAINTS = MKP_CONSTRAINTS;

using Weight = MKP_WEIGHT;
using Load = MKP_LOAD;  // holds what all things together weigh, and its negative
using Profit = MKP_PROFIT;
using Rank = MKP_RANK;

struct Data {
    const Weight* row;     // [constraint][thing]
    const Weight* column;  // [thing][constraint]
    const Profit* profit;  // [thing]
    const Load* capacity;  // [constraint]
    const double* price;   // [constraint]: of a unit of excess
    const Rank* order;     // [MKP_ORDERS][thing]: things from the most useful one on
};

// A choice with its profit and what it leaves of each capacity, which follow each change.
class Knapsack {
  public:
    __device__ Knapsack(Shelf& shelf, int n, const Data& data)
        : n_(n), data_(data), slack_(shelf.take<Load>(CONSTRAINTS)), profit_(0) {}

    // `chosen` lies in block memory, complete and visible; so is the slack on return.
    __device__ void begin(const uint32_t* chosen) {
        int64_t mine = 0;
        if (blockDim.x == 1) {
            for (int i = 0; i < CONSTRAINTS; ++i) slack_[i] = data_.capacity[i];
            for (int w = 0; 32 * w < n_; ++w) {
                for (uint32_t left = chosen[w]; left; left &= left - 1) {
                    const int thing = 32 * w + __ffs(left) - 1;
                    mine += data_.profit[thing];
                    take(thing, 1);
                }
            }
        } else {
            for (int j = threadIdx.x; j < n_; j += blockDim.x) {
                if (has(chosen, j)) mine += data_.profit[j];
            }
            for (int i = 0; i < CONSTRAINTS; i += TILE) weigh(chosen, i);
        }
        profit_ = block::sum(mine);
        __syncthreads();
    }

    // Takes a thing in or out. All threads have read `chosen` and the slack before.
    __device__ void turn(uint32_t* chosen, int thing) {
        const bool leaves = has(chosen, thing);
        __syncthreads();
        if (threadIdx.x == 0) chosen[thing / 32] ^= 1u << (thing % 32);
        take(thing, leaves ? -1 : 1);
        profit_ += leaves ? -data_.profit[thing] : data_.profit[thing];
        __syncthreads();
    }

    // Returns whether a thing fits beside what is chosen, as one thread sees it.
    __device__ bool fits(int thing) const {
        for (int i = 0; i < CONSTRAINTS; ++i) {
            if (Load(data_.row[int64_t(i) * n_ + thing]) > slack_[i]) return false;
        }
        return true;
    }

    // The same for all threads together: whether nothing exceeds its capacity.
    __device__ bool is_feasible() const {
        bool exceeds = false;
        for (int i = threadIdx.x; i < CONSTRAINTS; i += blockDim.x) exceeds |= slack_[i] < 0;
        return !block::any(exceeds);
    }

    // Returns the price of all that exceeds capacities: each thread adds it up in the same order.
    __device__ double fine() const {
        double sum = 0.0;
        for (int i = 0; i < CONSTRAINTS; ++i) {
            if (slack_[i] < 0) sum += data_.price[i] * double(-slack_[i]);
        }
        return sum;
    }

    // Returns the weight of all that is chosen, over all constraints.
    __device__ int64_t weight() const {
        int64_t mine = 0;
        for (int i = threadIdx.x; i < CONSTRAINTS; i += blockDim.x) {
            mine += int64_t(data_.capacity[i]) - slack_[i];
        }
        return block::sum(mine);
    }

    __device__ int64_t profit() const { return profit_; }
    __device__ const Load* slack() const { return slack_; }

    __device__ static bool has(const uint32_t* chosen, int thing) {
        return chosen[thing / 32] >> (thing % 32) & 1;
    }

  private:
    static constexpr int TILE = CONSTRAINTS < 10 ? CONSTRAINTS : 10;

    __device__ void take(int thing, int sign) {
        for (int i = threadIdx.x; i < CONSTRAINTS; i += blockDim.x) {
            slack_[i] -= sign * Load(data_.column[int64_t(thing) * CONSTRAINTS + i]);
        }
    }

    // Finds the slack of a few constraints on end: threads share the things.
    __device__ void weigh(const uint32_t* chosen, int first) {
        Load load[TILE] = {};
        for (int j = threadIdx.x; j < n_; j += blockDim.x) {
            const Load taken = has(chosen, j);
#pragma unroll
            for (int k = 0; k < TILE; ++k) {
                const int i = min(first + k, CONSTRAINTS - 1);
                load[k] += taken * Load(data_.row[int64_t(i) * n_ + j]);
            }
        }
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            const Load total = block::sum(load[k]);
            if (first + k < CONSTRAINTS && threadIdx.x == 0) {
                slack_[first + k] = data_.capacity[first + k] - total;
            }
        }
    }

    const int n_;
    const Data& data_;
    Load* const slack_;
    int64_t profit_;
};

// Leaves chosen things out until the rest fits, each drawn among all that are left.
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

// Leaves out the least useful until the rest fits, and then adds the most useful that fit; `order`
// has the things from the most useful one on.
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
    for (int begin = 0; begin < n; begin += blockDim.x) {
        const int thing = order[min(begin + me, n - 1)];
        bool may = begin + me < n && !Knapsack::has(chosen, thing) && knapsack.fits(thing);
        for (int next; (next = block::first(may)) < blockDim.x;) {
            knapsack.turn(chosen, order[begin + next]);
            may = may && me > next && knapsack.fits(thing);
        }
    }
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

// Evaluates a choice, which lies in block memory, in its own way of making infeasible ones good.
__device__ Verdict judge(uint32_t* chosen, Shelf shelf, int n, const Data& data,
                         const draw::Place& place, int child) {
    Knapsack knapsack(shelf, n, data);
    knapsack.begin(chosen);
#if MKP_INFEASIBLE == MKP_REPAIR
    // Islands see with different eyes, so that not all are caught in the same traps.
    repair(knapsack, chosen, n, data.order + int64_t(place.island % MKP_ORDERS) * n);
    return {-knapsack.profit(), true};
#else
    if (knapsack.is_feasible()) return {marks::feasible(-knapsack.profit()), false};
#if MKP_INFEASIBLE == MKP_DROP
    drop(knapsack, chosen, n, place, child);
    return {-knapsack.profit(), true};
#else
    return {marks::infeasible(fined(knapsack)), false};
#endif
#endif
}

}  // namespace problem
