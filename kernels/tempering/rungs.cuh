// The temperatures of a ladder, processed by one thread, and the cooling of an island. Reads and
// writes temperatures. No random numbers.
#pragma once

#include "core/exponential.cuh"
#include "tempering/base.cuh"

namespace tempering {

constexpr double LEAST_RATIO = 1.01;  // minimum ratio of the hottest to the coldest temperature

class Rungs {
  public:
    __device__ Rungs(const Islands& all, const Plan& plan, int local, int number)
        : all_(all),
          plan_(plan),
          local_(local),
          number_(number),
          rungs_(plan.rungs),
          first_(all.number(local, number * plan.rungs)) {}

  protected:
    __device__ double& temperature(int rung) const { return plan_.temperature[first_ + rung]; }

    // Return the number of ladders of an island.
    __device__ int ladders() const { return all_.population / rungs_; }
    // Return the index of a ladder of the island among those of all islands of the rank.
    __device__ int64_t of_rank(int ladder) const { return int64_t(local_) * ladders() + ladder; }

    // Set the temperatures to a geometric series.
    __device__ void spread(double low, double high) const {
        const double ratio = high / low, steps = rungs_ - 1;
        for (int rung = 0; rung < rungs_; ++rung) {
            temperature(rung) = low * exact::pow(ratio, rung / steps);
        }
    }

    // Return the unit of temperatures: the mean cost change of a proposal.
    __device__ double unit() const {
        if (plan_.unit != nullptr) return *plan_.unit;
        const int64_t first = all_.number(local_, 0);
        double sum = 0.0;
        for (int i = 0; i < all_.population; ++i) sum += plan_.roughness[first + i];
        return sum > 0.0 ? sum / all_.population : 1.0;
    }

    // Return the temperature of a generation of the tuning phase, which cools from `high` to `low`.
    __device__ double cooled(int64_t made) const {
        const double part = double(made - 1) / double(max(1, plan_.tuning - 1));
        return plan_.high * unit() * exact::pow(plan_.low / plan_.high, part);
    }

    // Cool all replicas for the generation of the tuning phase after `made`.
    __device__ void cool_further(int64_t made) const {
        const double next = cooled(made < plan_.tuning ? made + 1 : made);
        spread(next, next);
    }

    // Return the lowest temperature of the tuning phase at which measured(generation) reached a
    // number, interpolated between two generations.
    template <class Measured>
    __device__ double coldest_with(double number, Measured measured) const {
        int64_t made = plan_.tuning;
        double here = measured(made), colder = here;
        while (here < number && made > 1) colder = here, here = measured(--made);
        if (!(colder < number && number < here)) return cooled(made);
        const double part = (number - colder) / (here - colder);
        return cooled(made + 1) * exact::pow(cooled(made) / cooled(made + 1), part);
    }

    const Islands& all_;
    const Plan& plan_;
    const int local_, number_, rungs_;
    const int64_t first_;
};

}  // namespace tempering
