// Adaptive price of violations: each ladder multiplies the price of the instance by a factor. Reads
// the energies of replicas; writes factors. No random numbers.
#pragma once

#include "genes.cuh"
#include "tempering/base.cuh"

namespace tempering {

class Price {
  public:
    static constexpr bool ADAPTS = true;
    // The initial factor. Other algorithms use the full price, as they need it only until they find
    // a feasible solution.
    static constexpr double FIRST_FACTOR = 1.0 / 16;

    // Initialise the price of a ladder, given its index among those of all islands of the rank.
    __device__ static void begin(const Plan& plan, int64_t ladder) {
        plan.chain.price[ladder] = FIRST_FACTOR;
    }

    // Raise the price of violations if all states are infeasible, and lower it if none is, so that
    // replicas stay near the boundary of feasibility. `first` is the first replica of the ladder.
    __device__ static void adapt(const Plan& plan, int64_t ladder, int64_t first) {
        int infeasible = 0;
        for (int i = 0; i < plan.rungs; ++i) {
            infeasible += priced::is_infeasible(plan.energy[first + i]);
        }
        double& price = plan.chain.price[ladder];
        if (infeasible == plan.rungs) {
            price = min(price * STEP, RANGE);
        } else if (infeasible == 0) {
            price = max(price / STEP, FIRST_FACTOR / RANGE);
        }
    }

  private:
    // The factor by which a generation changes the price, and the maximum factor.
    static constexpr double STEP = 1.0625, RANGE = 1e12;
};

// The data of the instance that a replica searches, with the price of its ladder.
template <class Data>
class PricedData {
  public:
    __device__ explicit PricedData(const Data& given) : data(given), given_(given) {}

    __device__ void take_first() { take(Price::FIRST_FACTOR); }
    __device__ void take(const Plan& plan, int64_t ladder) { take(plan.chain.price[ladder]); }

    // Return the costs with which a state continues. An infeasible state is evaluated again, as the
    // price has changed; it becomes the best one if no feasible state is known.
    __device__ Costs resumed(const Costs& before, const Gene* state, Gene* best,
                             const encoding::Shape& shape, bool may_evaluate,
                             int64_t& evaluated) const {
        if (!may_evaluate || !priced::is_infeasible(before.current)) return before;
        evaluated = 1;
        // Found by argument-dependent lookup, as it is undefined if the host computes costs.
        const int64_t cost = cost_after(state, genes::items(shape), data);
        if (!priced::is_infeasible(before.best)) return {cost, before.best, 0};
        copy_row(best, state, shape.pitch);
        __syncthreads();
        return {cost, cost, 0};
    }

    Data data;

  private:
    __device__ void take(double factor) {
        data = given_;
        data._price *= factor;
    }

    const Data& given_;  // of the most recently selected island
};

}  // namespace tempering
