// Ladders whose ends are set from accepted climbs: while it cools down, an island measures how
// often cost-raising proposals are accepted at each temperature. Instead of ladders, all replicas
// may cool down repeatedly. Reads the counters of replicas; writes shares and temperatures. No
// random numbers.
#pragma once

#include "tempering/rungs.cuh"

namespace tempering {

class Ends : public Rungs {
  public:
    using Rungs::Rungs;

    // Generations of the tuning phase have the usual length.
    static constexpr int TUNING_WORK = 0x7fffffff;

    // Store what the ladder reads of a replica besides its costs; called by one thread.
    __device__ static void count(const Plan& plan, int64_t me, const Costs& costs) {
        plan.ends.climbs[me] = costs.climbs;
        plan.ends.proposals[me] = costs.proposed;
    }

  protected:
    // Use temperatures from now on.
    __device__ void take(double low, double high) const {
        range()[0] = low;
        range()[1] = high;
        spread(low, high);
    }

    // Store the share of accepted climbs, and cool all replicas for the next generation.
    __device__ void cool(int64_t made) const {
        int64_t climbs = 0, proposals = 0;
        for (int i = 0; i < rungs_; ++i) {
            climbs += plan_.ends.climbs[first_ + i];
            proposals += plan_.ends.proposals[first_ + i];
        }
        share(number_, made) = double(climbs) / double(max(proposals, int64_t(1)));
        cool_further(made);
    }

    // Set the temperatures at which the replicas of the island accepted climbs frequently and
    // rarely.
    __device__ void tune() const {
        const auto measured = [&](int64_t made) { return mean_share(made); };
        const double low = coldest_with(plan_.ends.cold_share, measured);
        const double high = coldest_with(plan_.ends.hot_share, measured);
        take(low, high > LEAST_RATIO * low ? high : LEAST_RATIO * low);
        if (anneals()) anneal(plan_.tuning + 1);
    }

    __device__ bool anneals() const { return plan_.ends.cycle > 0; }

    // Cool all replicas down together, repeatedly, each time twice as slowly.
    __device__ void anneal(int64_t made) const {
        int64_t at = made - plan_.tuning - 1, length = plan_.ends.cycle;
        while (at >= length) at -= length, length *= 2;
        const double part = double(at) / double(max(length - 1, int64_t(1)));
        const double now = range()[1] * exact::pow(range()[0] / range()[1], part);
        for (int rung = 0; rung < rungs_; ++rung) temperature(rung) = now;
    }

  private:
    // The coldest and the hottest temperature.
    __device__ double* range() const { return plan_.ends.range + 2 * of_rank(number_); }

    __device__ double& share(int ladder, int64_t made) const {
        return plan_.ends.shares[of_rank(ladder) * plan_.tuning + made - 1];
    }

    __device__ double mean_share(int64_t made) const {
        double sum = 0.0;
        for (int k = 0; k < ladders(); ++k) sum += share(k, made);
        return sum / ladders();
    }
};

}  // namespace tempering
