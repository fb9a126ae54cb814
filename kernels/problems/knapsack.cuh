// A subset of items with its profit and remaining capacities, updated incrementally. Reads the
// weights and the subset; writes the subset in place, and the remaining capacities to scratch
// memory. No random numbers.
#pragma once

#include "core/core.cuh"
#include "core/warp.cuh"

namespace problem {

constexpr int CONSTRAINTS = MKP_CONSTRAINTS;

using Weight = MKP_WEIGHT;
using Load = MKP_LOAD;  // can represent the weight of all items, and its negative
using Profit = MKP_PROFIT;
using Rank = MKP_RANK;

struct Data {
    const Weight* row;     // [constraint][item]
    const Weight* column;  // [item][constraint]
    const Profit* profit;  // [item]
    const Load* capacity;  // [constraint]
    const double* price;   // [constraint]: penalty per unit of excess
    const int64_t*
        scale;  // [constraint]: factor from its unit to the common unit of all constraints
    const Rank*
        order;  // [MKP_ORDERS][item]: by decreasing utility; the first order is 0, 1, 2, ...
};

class Knapsack {
  public:
    __device__ Knapsack(Scratch& scratch, int n, const Data& data)
        : n_(n), data_(data), slack_(scratch.take<Load>(CONSTRAINTS)), profit_(0) {}

    // Start with a subset in shared memory that all threads see; the slack is visible on return.
    __device__ void begin(const uint32_t* chosen) {
        int64_t part = 0;
        if (blockDim.x == 1) {
            for (int i = 0; i < CONSTRAINTS; ++i) slack_[i] = data_.capacity[i];
            for (int w = 0; 32 * w < n_; ++w) {
                for (uint32_t left = chosen[w]; left; left &= left - 1) {
                    const int item = 32 * w + __ffs(left) - 1;
                    part += data_.profit[item];
                    take(item, 1);
                }
            }
        } else {
            for (int j = threadIdx.x; j < n_; j += blockDim.x) {
                if (has(chosen, j)) part += data_.profit[j];
            }
            // In a block of one warp, the sums contain no barriers.
            warp::sync();  // the slack of another knapsack in this memory has been read
            for (int i = 0; i < CONSTRAINTS; i += TILE) weigh(chosen, i);
        }
        profit_ = block::sum(part);
        __syncthreads();
    }

    // Add or remove an item. All threads must have read `chosen` and the slack before.
    __device__ void toggle(uint32_t* chosen, int item) {
        const bool is_removed = has(chosen, item);
        __syncthreads();
        if (threadIdx.x == 0) chosen[item / 32] ^= 1u << (item % 32);
        take(item, is_removed ? -1 : 1);
        profit_ += is_removed ? -data_.profit[item] : data_.profit[item];
        __syncthreads();
    }

    // Return whether an additional item fits. May be called by one thread.
    __device__ bool fits(int item) const {
        for (int i = 0; i < CONSTRAINTS; ++i) {
            if (Load(data_.row[int64_t(i) * n_ + item]) > slack_[i]) return false;
        }
        return true;
    }

    // Return whether all capacities are respected; called by all threads.
    __device__ bool is_feasible() const {
        bool exceeds = false;
        for (int i = threadIdx.x; i < CONSTRAINTS; i += blockDim.x) exceeds |= slack_[i] < 0;
        return !block::any(exceeds);
    }

    // Return the penalty for the total excess; each thread sums it in the same order.
    __device__ double penalty() const {
        double sum = 0.0;
        for (int i = 0; i < CONSTRAINTS; ++i) {
            if (slack_[i] < 0) sum += data_.price[i] * double(-slack_[i]);
        }
        return sum;
    }

    // Return the weight of the subset over all constraints, in their common unit.
    __device__ int64_t weight() const {
        int64_t part = 0;
        for (int i = threadIdx.x; i < CONSTRAINTS; i += blockDim.x) {
            part += data_.scale[i] * (int64_t(data_.capacity[i]) - slack_[i]);
        }
        return block::sum(part);
    }

    __device__ int64_t profit() const { return profit_; }
    __device__ const Load* slack() const { return slack_; }

    __device__ static bool has(const uint32_t* chosen, int item) {
        return chosen[item / 32] >> (item % 32) & 1;
    }

  private:
    static constexpr int TILE = CONSTRAINTS < 10 ? CONSTRAINTS : 10;

    __device__ void take(int item, int sign) {
        for (int i = threadIdx.x; i < CONSTRAINTS; i += blockDim.x) {
            slack_[i] -= sign * Load(data_.column[int64_t(item) * CONSTRAINTS + i]);
        }
    }

    // Compute the slack of TILE consecutive constraints, with the items distributed over the
    // threads.
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

}  // namespace problem
