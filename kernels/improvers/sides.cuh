// The items that a search on subsets may exchange, in two groups: chosen ones, which may leave, and
// others, which may enter. Reads the subset and the problem's data; writes both lists to scratch
// memory. No random numbers.
#pragma once

#include "improvers/base.cuh"

namespace improver {

constexpr int NO_ITEM = -1;

// Two integers packed into one, so a thread can broadcast them; either may be NO_ITEM.
class NumberPair {
  public:
    __device__ NumberPair(int first, int second)
        : both_(int64_t(uint64_t(uint32_t(first)) << 32 | uint32_t(second))) {}

    // Broadcast the numbers of the one thread in which `mine` is true.
    __device__ void broadcast(bool mine) { both_ = block::sum(mine ? both_ : 0); }

    __device__ int first() const { return int(uint64_t(both_) >> 32); }
    __device__ int second() const { return int(uint32_t(both_)); }

  private:
    int64_t both_;
};

// The core: all items, or `core` items around the boundary between mostly chosen and mostly
// unchosen ones. Items are numbered by decreasing utility.
class Sides {
  public:
    __device__ Sides(Scratch& scratch, int n, int core, const problem::Data& data)
        : n_(n),
          count_(core > 0 && core < n ? core : n),
          data_(data),
          loss_(scratch.take<int64_t>(block::power_of_two(count_))),
          item_(scratch.take<uint32_t>(block::power_of_two(count_))),
          side_(scratch.take<int32_t>(count_)),
          enter_(0) {}

    // Find the core and sort it by decreasing profit.
    __device__ void begin(const uint32_t* chosen) {
        int32_t mine = 0;
        for (int w = threadIdx.x; 32 * w < n_; w += blockDim.x) mine += __popc(chosen[w]);
        const int border = block::sum(mine);
        const int before = border < count_ / 2 ? border : count_ / 2;
        const int first = min(border - before, n_ - count_);
        for (int k = threadIdx.x; k < count_; k += blockDim.x) {
            loss_[k] = -int64_t(data_.profit[first + k]);
            item_[k] = first + k;
        }
        __syncthreads();
        block::sort(loss_, item_, count_);
    }

    // Divide the core into the two sides.
    __device__ void deal(const uint32_t* chosen) {
        enter_ = 0;
        for (int begin = 0; begin < count_; begin += blockDim.x) {
            const int k = begin + threadIdx.x;
            const bool enters = k < count_ && !problem::Knapsack::has(chosen, item_[k]);
            const int before = enter_ + block::sum_before(enters);
            if (k < count_) side_[enters ? before : count_ - 1 - (k - before)] = k;
            enter_ += block::sum(int32_t(enters));
        }
        __syncthreads();
    }

    __device__ int entering() const { return enter_; }
    __device__ int leaving() const { return count_ - enter_; }

    // Entering items are sorted by descending profit, leaving items by ascending profit.
    __device__ int enters(int i) const { return side_[i]; }
    __device__ int leaves(int i) const { return side_[enter_ + i]; }

    // The item and profit at an index into the core, as returned by enters() and leaves().
    __device__ int item(int k) const { return k == NO_ITEM ? NO_ITEM : int(item_[k]); }
    __device__ int64_t profit(int k) const { return k == NO_ITEM ? 0 : -loss_[k]; }
    __device__ int count() const { return count_; }

  private:
    const int n_, count_;
    const problem::Data& data_;
    int64_t* const loss_;
    uint32_t* const item_;
    int32_t* const side_;
    int enter_;
};

// The free capacity after two items leave; each thread has its own.
class Gap {
  public:
    __device__ Gap(const problem::Knapsack& knapsack, const problem::Data& data)
        : slack_(knapsack.slack()), data_(data) {}

    __device__ void leave(int one, int other) {
        one_ = one, other_ = other;
        room_ = room(scarce_);
    }

    // Return whether two items fit. The constraint that failed last is checked first, as it is
    // likely to fail again.
    __device__ bool holds(int one, int other) {
        if (taken(one, other, scarce_) > room_) return false;
        for (int i = 0; i < problem::CONSTRAINTS; ++i) {
            const Load free = room(i);
            if (taken(one, other, i) > free) {
                scarce_ = i, room_ = free;
                return false;
            }
        }
        return true;
    }

  private:
    using Load = problem::Load;

    __device__ Load room(int constraint) const {
        return slack_[constraint] + taken(one_, other_, constraint);
    }
    __device__ Load taken(int one, int other, int constraint) const {
        return weight(one, constraint) + weight(other, constraint);
    }
    __device__ Load weight(int item, int constraint) const {
        if (item == NO_ITEM) return 0;
        return data_.column[int64_t(item) * problem::CONSTRAINTS + constraint];
    }

    const Load* const slack_;
    const problem::Data& data_;
    int one_ = NO_ITEM, other_ = NO_ITEM;
    int scarce_ = 0;
    Load room_ = 0;
};

}  // namespace improver
