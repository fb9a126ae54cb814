// Ladders whose ends are set from uphill moves: an island measures how often cost-raising
// proposals are accepted at each temperature while it cools down. Alternatively, there are no
// ladders, and all replicas cool down repeatedly. Reads the counters of replicas; writes shares and
// temperatures. No random numbers.
#pragma once

#include "tempering/rungs.cuh"

namespace tempering {

class Ends : public Rungs {
  public:
    using Rungs::Rungs;

    // Generations of the tuning phase have the usual length.
    static constexpr int TUNING_WORK = 0x7fffffff;

    // Store the counters of a replica, which its ladder reads; called by one thread.
    __device__ static void count(const Plan& plan, int64_t me, const Costs& costs) {
        plan.ends.climbs[me] = costs.climbs;
        plan.ends.proposals[me] = costs.proposed;
    }

  protected:
    // Set the coldest and the hottest temperature of the ladder.
    __device__ void set_range(double low, double high) const {
        range()[0] = low;
        range()[1] = high;
        spread(low, high);
    }

    // Store the share of accepted uphill moves, and cool all replicas for the next generation.
    __device__ void cool(int64_t made) const {
        int64_t climbs = 0, proposals = 0;
        for (int i = 0; i < rungs_; ++i) {
            climbs += plan_.ends.climbs[first_ + i];
            proposals += plan_.ends.proposals[first_ + i];
        }
        share(number_, made) = double(climbs) / double(max(proposals, int64_t(1)));
        cool_further(made);
    }

    // Set the range to the temperatures at which the island accepted uphill moves rarely and
    // frequently.
    __device__ void tune() const {
        const auto measured = [&](int64_t made) { return mean_share(made); };
        const double low = coldest_with(plan_.ends.cold_share, measured);
        const double high = coldest_with(plan_.ends.hot_share, measured);
        set_range(low, high > LEAST_RATIO * low ? high : LEAST_RATIO * low);
        if (anneals()) anneal(plan_.tuning + 1);
    }

    __device__ bool anneals() const { return plan_.ends.cycle > 0; }

    // Set the temperatures of a generation of annealing. All replicas cool down together,
    // repeatedly: each time twice as slowly or, after reheating, from a temperature that rises with
    // the length.
    __device__ void anneal(int64_t made) const {
        const Annealing now = annealing(made);
        const double part = double(now.at) / double(max(now.length - 1, int64_t(1)));
        const double ratio = range()[0] / range()[1];
        for (int rung = 0; rung < rungs_; ++rung) {
            double first = 0.0;
            if (reheats(now)) {
                first = double(max(HEATS - 1 - now.doublings - rung, 0)) / (2 * HEATS);
            }
            temperature(rung) = range()[1] * exact::pow(ratio, first + (1.0 - first) * part);
        }
    }

    // Return whether the replicas are reheated after a generation.
    __device__ bool reheats(int64_t made) const {
        const Annealing now = annealing(made);
        return now.at == 0 && reheats(now);
    }

  private:
    static constexpr int HEATS = 4;  // different temperatures to which replicas are reheated

    // An annealing: its length, its current generation (from 0), and how many times the usual
    // length after reheating is doubled; -1 if nothing was reheated.
    struct Annealing {
        int64_t length, at;
        int doublings;
    };

    // Return the annealing after a generation. Those after reheating have one, one, two, one, one,
    // two and four times the usual length and so on (the Luby sequence), so that all lengths take
    // the same time in total.
    __device__ Annealing annealing(int64_t made) const {
        int64_t at = made - plan_.tuning - 1, length = plan_.ends.cycle;
        const int64_t usual = plan_.ends.reheating;
        if (usual == 0 || at < length) {
            while (at >= length) at -= length, length *= 2;
            return {length, at, -1};
        }
        at -= length;
        int doublings = 0;
        int64_t end = usual;  // of the first annealing with these doublings
        while (end <= at) end = 2 * end + (usual << ++doublings);
        for (;; --doublings) {
            length = usual << doublings;
            if (at >= end - length) return {length, at - (end - length), doublings};
            end = (end - length) / 2;
            if (at >= end) at -= end;
        }
    }

    __device__ static bool reheats(const Annealing& now) { return now.doublings >= 0; }

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
