// The state of a chain in the core of a knapsack problem: the items that may change, in a list of
// chosen and a list of free ones. The first entry of each list stands for no item: an exchange with
// it only adds or only removes an item. The weights of free items are copied to columns of 16-bit
// numbers; the exact loads are kept as well. The energy is the negated profit plus the price of all
// overloads, scaled.
// Reads the tables of the plan; writes scratch memory and a subset. No random numbers.
#pragma once

#include "core/core.cuh"
#include "core/packed.cuh"
#include "tempering/plan.cuh"

namespace tempering {

constexpr int NOTHING = -1;  // the item of the first entry of a list

using Left = uint32_t[PAIRS];  // remaining capacities, two 16-bit numbers per word

// An item that may leave. On a GPU, each thread holds one word of its weights.
struct Leaving {
    int item, gain;
    uint32_t word;
};

class Core {
  public:
    __device__ Core(Scratch& scratch, int n, const problem::Data& data, const algorithm::Plan& plan)
        : data_(data),
          plan_(plan.chain),
          knapsack_(scratch, n, data),
          chosen_(scratch.take<int32_t>(plan.chain.largest + 1)),
          free_(scratch.take<int32_t>(plan.chain.places)),
          before_(scratch.take<uint32_t>(plan.chain.largest)),
          left_(scratch.take<uint32_t>(PAIRS)),
          without_(scratch.take<uint4>(QUADS)),
          columns_(scratch, plan.chain.places) {}

    // `subset` is complete and visible on entry, the core on return.
    __device__ void begin(const uint32_t* subset, int size) {
        knapsack_.begin(subset);
        for (int k = threadIdx.x; k < size; k += blockDim.x) {
            before_[k] = problem::Knapsack::has(subset, plan_.core[k]);
        }
        __syncthreads();
        const int last = problem::Knapsack::has(subset, plan_.core[size - 1]);
        block::scan(before_, size);
        chosen_count_ = 1 + int(before_[size - 1]) + last;
        // Free items without a place are not part of the core in this generation.
        free_count_ = min(1 + size - (chosen_count_ - 1), plan_.places);
        for (int k = threadIdx.x; k < size; k += blockDim.x) {
            const int item = plan_.core[k], rank = before_[k];
            if (problem::Knapsack::has(subset, item)) {
                chosen_[1 + rank] = item;
            } else if (1 + k - rank < plan_.places) {
                free_[1 + k - rank] = item;
            }
        }
        if (threadIdx.x == 0) chosen_[0] = free_[0] = NOTHING;
        __syncthreads();
        for (int place = threadIdx.x; place < columns_.places(); place += blockDim.x) {
            const bool is_taken = place < free_count_;
            const int item = is_taken ? free_[place] : NOTHING;
            columns_.set_gain(place, is_taken ? gain_of(item) : LOSS);
            for (int p = 0; p < PAIRS; ++p) columns_.set(place, p, negative(packed_of(item, p)));
        }
        copy_left();
        __syncthreads();
    }

    __device__ int chosen() const { return chosen_count_; }
    __device__ int free() const { return free_count_; }
    __device__ int32_t chosen_item(int i) const { return chosen_[i]; }
    __device__ int32_t free_item(int place) const { return free_[place]; }
    // Return the columns of this thread; those of all threads begin at `first`.
    __device__ packed::Column<PAIRS> column(int first) const { return columns_.from(first); }
    __device__ int64_t profit() const { return knapsack_.profit(); }

    __device__ int gain_of(int item) const { return item == NOTHING ? 0 : plan_.gains[item]; }
    __device__ int64_t profit_of(int item) const {
        return item == NOTHING ? 0 : int64_t(data_.profit[item]);
    }

    // Prefetch the item of a chosen entry.
    __device__ Leaving leaving(int i) const {
        const int item = chosen_[i];
        Leaving leaving{item, gain_of(item), 0};
#ifdef __CUDACC__
        if (threadIdx.x < PAIRS) leaving.word = packed_of(item, threadIdx.x);
#endif
        return leaving;
    }

    // Compute the remaining capacities without an item. Called by all threads.
    __device__ void without(const Leaving& lost, Left& left) const {
#ifdef __CUDACC__
        // Each thread adds some of the words; then all threads read all of them.
        auto* const words = reinterpret_cast<uint32_t*>(without_);
        __syncthreads();
        if (threadIdx.x < PAIRS) words[threadIdx.x] = packed::sum(left_[threadIdx.x], lost.word);
        for (int p = threadIdx.x + blockDim.x; p < PAIRS; p += blockDim.x) {
            words[p] = packed::sum(left_[p], packed_of(lost.item, p));
        }
        __syncthreads();
        uint4 quads[QUADS];
#pragma unroll
        for (int q = 0; q < QUADS; ++q) quads[q] = without_[q];
#pragma unroll
        for (int p = 0; p < PAIRS; ++p) {
            const uint4& quad = quads[p / 4];
            left[p] = p % 4 < 2 ? (p % 2 ? quad.y : quad.x) : (p % 2 ? quad.w : quad.z);
        }
#else
        for (int p = 0; p < PAIRS; ++p) left[p] = packed::sum(left_[p], packed_of(lost.item, p));
#endif
    }

    // Return the price of all overloads, computed by each thread.
    __device__ int penalty(const packed::Prices<PAIRS>& prices) const {
        int sum = 0;
#pragma unroll
        for (int p = 0; p < PAIRS; ++p) sum += prices.of(p, left_[p]);
        return sum;
    }

    // Return whether the lists have room for an exchange of the entries.
    __device__ bool may_exchange(int i, int place) const {
        if (i == 0) return place > 0;
        return place > 0 || free_count_ < plan_.places;
    }

    // Return whether exchanging two items is feasible. May be called by one thread.
    __device__ bool is_feasible(int lost, int gained) const {
        const problem::Load* const slack = knapsack_.slack();
        for (int i = 0; i < problem::CONSTRAINTS; ++i) {
            if (slack[i] + weight(lost, i) < weight(gained, i)) return false;
        }
        return true;
    }

    // Exchange chosen entry i for free entry `place`. All threads must have read both lists
    // already.
    __device__ void exchange(uint32_t* subset, int i, int place) {
        const int lost = chosen_[i], gained = free_[place];
        if (lost != NOTHING) knapsack_.toggle(subset, lost);
        if (gained != NOTHING) knapsack_.toggle(subset, gained);
        __syncthreads();
        if (lost == NOTHING) {  // the last free item takes the place of the gained one
            --free_count_;
            if (threadIdx.x == 0) chosen_[chosen_count_] = gained;
            ++chosen_count_;
            // If both are the same item, one thread would write it while others read it.
            if (place != free_count_) put(place, free_[free_count_]);
            __syncthreads();
            if (threadIdx.x == 0) columns_.set_gain(free_count_, LOSS);
        } else if (gained == NOTHING) {
            --chosen_count_;
            if (threadIdx.x == 0) chosen_[i] = chosen_[chosen_count_];
            put(free_count_, lost);
            ++free_count_;
        } else {
            if (threadIdx.x == 0) chosen_[i] = gained;
            put(place, lost);
        }
        copy_left();
        __syncthreads();
    }

  private:
    // 16-bit numbers within this limit have room for two more weights; see
    // islands/problems/core.py.
    static constexpr int MOST_LEFT = 1 << 14;
    // The gain of an empty place, which no exchange selects.
    static constexpr int LOSS = -(1 << 29);
    static constexpr int QUADS = (PAIRS + 3) / 4;

    __device__ uint32_t packed_of(int item, int p) const {
        return item == NOTHING ? 0u : plan_.packed[int64_t(item) * PAIRS + p];
    }
    __device__ static uint32_t negative(uint32_t both) { return packed::difference(0u, both); }

    __device__ problem::Load weight(int item, int constraint) const {
        if (item == NOTHING) return 0;
        return data_.column[int64_t(item) * problem::CONSTRAINTS + constraint];
    }

    // Put a free item in a place.
    __device__ void put(int place, int item) {
        if (threadIdx.x == 0) {
            free_[place] = item;
            columns_.set_gain(place, gain_of(item));
        }
        for (int p = threadIdx.x; p < PAIRS; p += blockDim.x) {
            columns_.set(place, p, negative(packed_of(item, p)));
        }
    }

    __device__ void copy_left() {
        for (int p = threadIdx.x; p < PAIRS; p += blockDim.x) {
            left_[p] = packed::pair(units_left(2 * p), units_left(2 * p + 1));
        }
    }

    __device__ int units_left(int row) const {
        const int constraint = plan_.rows[row];
        if (constraint < 0) return 0;
        const auto units = knapsack_.slack()[constraint] >> plan_.shifts[row];
        return units < -MOST_LEFT ? -MOST_LEFT : units > MOST_LEFT ? MOST_LEFT : int(units);
    }

    const problem::Data& data_;
    const algorithm::CorePlan& plan_;
    problem::Knapsack knapsack_;
    int32_t* const chosen_;           // [largest + 1]
    int32_t* const free_;             // [places]
    uint32_t* const before_;          // [largest]
    uint32_t* const left_;            // [PAIRS]
    uint4* const without_;            // [QUADS]: left_ without the chosen item, on a GPU
    packed::Columns<PAIRS> columns_;  // of the free items: negative weights, and their gains
    int chosen_count_ = 0, free_count_ = 0;
};

}  // namespace tempering
