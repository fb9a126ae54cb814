// Ladders whose ends are set from mean energies, which an island measures at each temperature while
// it cools down. Reads the energies of replicas; writes their sums and temperatures.
// No random numbers.
#pragma once

#include "tempering/rungs.cuh"

namespace tempering {

class Ends : public Rungs {
  public:
    using Rungs::Rungs;

    // Maximum number of sweeps per generation of the tuning phase, which has many generations.
    static constexpr int TUNING_WORK = 96;

    // The ladder needs no counters of its replicas.
    __device__ static void count(const Plan&, int64_t, const Costs&) {}

  protected:
    // Set the coldest and the hottest temperature of the ladder.
    __device__ void set_range(double low, double high) const { spread(low, high); }

    // Store the sum of the energies, and cool all replicas for the next generation.
    __device__ void cool(int64_t made) const {
        double sum = 0.0;
        for (int i = 0; i < rungs_; ++i) sum += double(plan_.energy[first_ + i]);
        heat(number_, made) = sum;
        cool_further(made);
    }

    // Set the range to the temperatures at which the mean energy exceeded that of the coldest
    // generation by the excesses of the plan.
    __device__ void tune() const {
        const auto measured = [&](int64_t made) { return excess_of(made); };
        const double low = coldest_with(plan_.ends.cold_excess, measured);
        const double high = coldest_with(plan_.ends.hot_excess, measured);
        set_range(low, high > LEAST_RATIO * low ? high : LEAST_RATIO * low);
    }

    __device__ static bool anneals() { return false; }
    __device__ static void anneal(int64_t) {}
    __device__ static bool reheats(int64_t) { return false; }

  private:
    __device__ double& heat(int ladder, int64_t made) const {
        return plan_.ends.heat[of_rank(ladder) * plan_.tuning + made - 1];
    }

    // Return the mean energy over all replicas of the island in a generation of the tuning phase.
    __device__ double mean_energy(int64_t made) const {
        double sum = 0.0;
        for (int k = 0; k < ladders(); ++k) sum += heat(k, made);
        return sum / all_.population;
    }

    // Return how far the mean energy per item of a generation of the tuning phase is above that of
    // the last one, as a multiple of the temperature.
    __device__ double excess_of(int64_t made) const {
        const double above = mean_energy(made) - mean_energy(plan_.tuning);
        return above / (cooled(made) * all_.shape.n);
    }
};

}  // namespace tempering
