// Scans of a local search over the moves of an order, for the first improving move or the best one.
// Each thread of a block tries one move at a time. Reads the order and the problem's data; returns
// choices. No random numbers.
#pragma once

#include "core/costs.cuh"
#include "improvers/base.cuh"
#include "improvers/changes.cuh"
#include "improvers/pairs.cuh"
#include "moves.cuh"

namespace improver {

// The move selected by a scan; none if delta is 0 or more.
struct Choice {
    int64_t number, delta, tried;
};

#ifdef PROBLEM_DELTA_PARTS
constexpr bool HAS_DELTA_PARTS = true;
#else
constexpr bool HAS_DELTA_PARTS = false;
#endif

template <class Move, bool in_lines = HAS_DELTA_PARTS && Move::IN_LINES>
class Scan {
  public:
    __device__ Scan(const Plan& plan, const Pairs& pairs, const int32_t* order, int n,
                    const problem::Data& data)
        : pairs_(pairs), changes_(order, n, data), lookout_(plan) {}

    // Try all moves cyclically from `start` until the first that improves. Only the moves that a
    // single thread would have tried are counted.
    __device__ Choice first(int64_t start) {
        const int64_t size = pairs_.size();
        changes_.begin();
        Pair pair = pairs_.at((start + threadIdx.x) % size);
        for (int64_t tried = 0; tried < size; tried += blockDim.x) {
            if (lookout_.halts()) break;
            const int64_t mine = tried + threadIdx.x;
            const int64_t delta = mine < size ? raised_by(pair) : 0;
            const int64_t found = block::argmin({delta < 0 ? mine : size, 0}).value;
            if (found < size) {
                return {(start + found) % size, block::sum(mine == found ? delta : 0), found + 1};
            }
            pair = pairs_.after(pair, blockDim.x);
        }
        return {0, 0, size};
    }

    // Try all moves and select the one with the lowest cost.
    __device__ Choice best() {
        const int64_t size = pairs_.size();
        changes_.begin();
        block::Ranked best{0, 0xffffffffu};
        Pair pair = pairs_.at(threadIdx.x % size);
        for (int64_t number = threadIdx.x; number < size; number += blockDim.x) {
            if (lookout_.sees()) break;  // the search halts before its next move
            const block::Ranked tried{raised_by(pair), uint32_t(number)};
            if (tried.before(best)) best = tried;
            pair = pairs_.after(pair, blockDim.x);
        }
        best = block::argmin(best);
        return {best.index, best.value, size};
    }

  private:
    __device__ int64_t raised_by(Pair pair) const { return changes_.by(Move{pair.u, pair.v}); }

    const Pairs& pairs_;
    Changes changes_;
    Lookout lookout_;
};

}  // namespace improver
