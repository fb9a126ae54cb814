// One ladder of replicas, which one thread processes: exchanges temperatures, sets them once, and
// renews replicas when the ladder stands still; or lets replicas descend. Reads the replicas of
// generation g and their costs; writes their rungs and mates, temperatures and records.
// Random streams: RUNGS, RENEWAL.
#pragma once

#include "core/exponential.cuh"
#ifdef ISLANDS_OUTSIDE
#include "tempering/waiting_replica.cuh"
#else
#include "tempering/replica.cuh"
#endif

namespace tempering {

constexpr double LEAST_RATIO = 1.01;  // of the hottest to the coldest temperature
#ifdef STATED_CROSS
constexpr bool CROSSES = true;  // the state of the problem makes children
#else
constexpr bool CROSSES = false;
#endif
#ifdef TEMPERING_ADAPTS
// The factor by which a generation changes the price of violations, and the largest of all.
constexpr double PRICE_STEP = 1.0625, PRICE_RANGE = 1e12;
#endif

class Ladder {
  public:
    __device__ Ladder(const Islands& all, const Plan& plan, int local, int number)
        : all_(all),
          plan_(plan),
          local_(local),
          number_(number),
          rungs_(plan.rungs),
          first_(all.number(local, number * plan.rungs)),
          record_(plan.records + 2 * (int64_t(local) * (all.population / plan.rungs) + number)) {}

    // Prepare generation 0.
    __device__ void start() const {
        if (plan_.tuning > 0) {
            spread(cooled(1), cooled(1));
        } else {
            take(plan_.low * unit(), plan_.high * unit());
        }
        record_[0] = cost(0, best(0));
        record_[1] = 0;
#ifdef TEMPERING_ADAPTS
        price() = FIRST_FACTOR;
#endif
#ifdef TEMPERING_PAIRS
        variant() = all_.island[local_].number * (all_.population / rungs_) + number_;
#endif
    }

    // Complete a generation.
    __device__ void end(int64_t made) const {
        const bool is_tuning = made <= plan_.tuning;
#ifdef TEMPERING_ADAPTS
        adapt();
#endif
        if (is_tuning) {
            cool(made);
        } else if (made == plan_.tuning + 1 && plan_.tuning > 0) {
            tune();
        } else if (anneals()) {
            anneal(made);
        } else if (plan_.descent == 0) {
            exchange_rungs(made);
        }
        const int mine = best(made);
        for (int i = 0; i < rungs_; ++i) plan_.mate[first_ + i] = NO_MATE;
        if (plan_.descent > 0 && !is_tuning && made % plan_.descent == 0) descend(made);
        if (all_.island[local_].restart || cost(made, mine) < record_[0]) {
            record_[0] = cost(made, mine);
            record_[1] = made;
        } else if (plan_.descent == 0 && plan_.patience > 0 &&
                   made - record_[1] >= plan_.patience && !is_tuning) {
            record_[1] = made;
            renew(made, mine);
        }
    }

    // Make an immigrant the state of its replica, which becomes the coldest if it is the best.
    // Other individuals stay as they are, so this may be repeated.
    __device__ void adopt() const {
        const int64_t now = all_.island[local_].generation;
        for (int i = 0; i < rungs_; ++i) {
            const int64_t me = first_ + i;
            const int32_t row = all_.row(now, local_, number_ * rungs_ + i);
            if (plan_.deltas != nullptr && all_.changed[me]) plan_.deltas_of[me] = -1;
            if (all_.cost[row] == plan_.held[me]) continue;
            plan_.held[me] = all_.cost[row];
            plan_.mate[me] = NO_MATE;  // otherwise a child would replace it
            plan_.energy[me] = energy_of(all_.cost[row], plan_);
            for (int k = 0; k < all_.shape.pitch; ++k) {
                plan_.state[me * all_.shape.pitch + k] = all_.genes_of(row)[k];
            }
            const int64_t coldest = holder(0);
            if (now > plan_.tuning && plan_.energy[me] < plan_.energy[coldest]) {
                plan_.rung[coldest] = plan_.rung[me];
                plan_.rung[me] = 0;
            }
        }
    }

  private:
#ifdef TEMPERING_ADAPTS
    __device__ double& price() const {
        return plan_.price[number_of_ladder(all_, plan_, local_, number_ * rungs_)];
    }

    // Raise the price of violations if all states are infeasible, and lower it if none is, so that
    // replicas stay near the border between both.
    __device__ void adapt() const {
        int infeasible = 0;
        for (int i = 0; i < rungs_; ++i) {
            infeasible += priced::is_infeasible(plan_.energy[first_ + i]);
        }
        if (infeasible == rungs_) {
            price() = min(price() * PRICE_STEP, PRICE_RANGE);
        } else if (infeasible == 0) {
            price() = max(price() / PRICE_STEP, FIRST_FACTOR / PRICE_RANGE);
        }
    }
#endif

    __device__ int64_t cost(int64_t generation, int i) const {
        return all_.cost[all_.row(generation, local_, number_ * rungs_ + i)];
    }

    // Return the replica that has found the best order.
    __device__ int best(int64_t generation) const {
        int found = 0;
        for (int i = 1; i < rungs_; ++i) {
            if (cost(generation, i) < cost(generation, found)) found = i;
        }
        return found;
    }

    // Return the replica at a rung.
    __device__ int64_t holder(int rung) const {
        int64_t me = first_;
        while (plan_.rung[me] != rung) ++me;
        return me;
    }

    // Replicas at neighbouring temperatures exchange them with the probability that keeps the
    // distribution of each.
    __device__ void exchange_rungs(int64_t made) const {
        const draw::Place place = all_.place(local_, made, number_ * rungs_);
        for (int rung = made % 2; rung + 1 < rungs_; rung += 2) {
            const int64_t cold = holder(rung), hot = holder(rung + 1);
            const double inverse_cold = 1.0 / temperature(rung);
            const double inverse_hot = 1.0 / temperature(rung + 1);
            const double gain = above(plan_.energy[cold], plan_.energy[hot]);
            const double exponent = (inverse_cold - inverse_hot) * gain;
            const uint32_t word = place.words(stream::RUNGS, rung).x;
            if (exponent < 0.0 && draw::inner_fraction(word) >= exact::exp(exponent)) continue;
            plan_.rung[cold] = rung + 1;
            plan_.rung[hot] = rung;
        }
    }

    // Each replica goes to the next colder rung. The coldest one becomes the hottest, and begins
    // the next generation as a child of itself and a random individual.
    __device__ void descend(int64_t made) const {
        const draw::Place place = all_.place(local_, made, number_ * rungs_);
        for (int i = 0; i < rungs_; ++i) {
            int32_t& rung = plan_.rung[first_ + i];
            if (rung-- > 0) continue;
            rung = rungs_ - 1;
            const int other = draw::below(place.words(stream::RENEWAL, i).x, all_.population - 1);
            plan_.mate[first_ + i] = other < number_ * rungs_ + i ? other : other + 1;
        }
    }

    // The replicas at some rungs, or all by a crossover of the problem, except that with the best
    // order, begin the next generation as children of the best orders of this ladder and others. If
    // there is no other ladder, they are newcomers, or children of the best order and their own.
    __device__ void renew(int64_t made, int mine) const {
#ifdef TEMPERING_PAIRS
        ++variant();
#endif
        const int ladders = all_.population / rungs_;
        const draw::Place place = all_.place(local_, made, number_ * rungs_);
        for (int i = 0; i < rungs_; ++i) {
            const int rung = plan_.rung[first_ + i];
            const bool is_hot = rung >= plan_.renewed_from && rung < plan_.renewed_to;
            if (i == mine || !(is_hot || CROSSES)) continue;
            int32_t mate = CROSSES ? number_ * rungs_ + i : NEWCOMER;
            if (ladders > 1) {
                const int other = draw::below(place.words(stream::RENEWAL, i).x, ladders - 1);
                const Ladder chosen(all_, plan_, local_, other < number_ ? other : other + 1);
                mate = chosen.number_ * rungs_ + chosen.best(made);
            }
            plan_.mate[first_ + i] = mate;
        }
    }

    __device__ double& temperature(int rung) const { return plan_.temperature[first_ + rung]; }

#ifdef TEMPERING_PAIRS
    __device__ int64_t& variant() const {
        return plan_.variant[int64_t(local_) * (all_.population / rungs_) + number_];
    }
#endif

    // Set the temperatures to a geometric series.
    __device__ void spread(double low, double high) const {
        const double ratio = high / low, steps = rungs_ - 1;
        for (int rung = 0; rung < rungs_; ++rung) {
            temperature(rung) = low * exact::pow(ratio, rung / steps);
        }
    }

    // Return the temperature of all replicas in a generation of the tuning, from hot to cold.
    __device__ double cooled(int64_t made) const {
        const double part = double(made - 1) / double(max(1, plan_.tuning - 1));
        return plan_.high * unit() * exact::pow(plan_.low / plan_.high, part);
    }

#ifdef TEMPERING_SHARES
#ifdef TEMPERING_TRIES
    // The mean change of the cost by a move of a random order of the island.
    __device__ double unit() const {
        const int64_t first = all_.number(local_, 0);
        double sum = 0.0;
        for (int i = 0; i < all_.population; ++i) sum += plan_.roughness[first + i];
        return sum > 0.0 ? sum / all_.population : 1.0;
    }
#else
    __device__ double unit() const { return *plan_.unit; }
    __device__ static double above(int64_t energy, int64_t other) { return double(energy - other); }
#endif

    // Keep the share of accepted climbs, and cool all replicas for the next generation.
    __device__ void cool(int64_t made) const {
        int64_t climbs = 0, proposals = 0;
        for (int i = 0; i < rungs_; ++i) {
            climbs += plan_.climbs[first_ + i];
            proposals += plan_.proposals[first_ + i];
        }
        share(number_, made) = double(climbs) / double(max(proposals, int64_t(1)));
        const double next = cooled(made < plan_.tuning ? made + 1 : made);
        spread(next, next);
    }

    __device__ double& share(int ladder, int64_t made) const {
        const int64_t ladders = all_.population / rungs_;
        return plan_.shares[(local_ * ladders + ladder) * plan_.tuning + made - 1];
    }

    // Take the temperatures at which the replicas of the island accepted climbs often and seldom.
    __device__ void tune() const {
        const double low = temperature_of(plan_.cold_share), high = temperature_of(plan_.hot_share);
        take(low, high > LEAST_RATIO * low ? high : LEAST_RATIO * low);
        if (anneals()) anneal(plan_.tuning + 1);
    }

    // Use temperatures from now on.
    __device__ void take(double low, double high) const {
        double* const range =
            plan_.range + 2 * (int64_t(local_) * (all_.population / rungs_) + number_);
        range[0] = low;
        range[1] = high;
        spread(low, high);
    }

    // Return the lowest temperature of the tuning at which climbs were accepted that often,
    // interpolated between two generations.
    __device__ double temperature_of(double often) const {
        int64_t made = plan_.tuning;
        double here = mean_share(made), colder = here;
        while (here < often && made > 1) colder = here, here = mean_share(--made);
        if (!(colder < often && often < here)) return cooled(made);
        const double part = (often - colder) / (here - colder);
        return cooled(made + 1) * exact::pow(cooled(made) / cooled(made + 1), part);
    }

    __device__ double mean_share(int64_t made) const {
        const int ladders = all_.population / rungs_;
        double sum = 0.0;
        for (int k = 0; k < ladders; ++k) sum += share(k, made);
        return sum / ladders;
    }

    __device__ bool anneals() const { return plan_.cycle > 0; }

    // Cool all replicas down together, again and again, each time twice as slowly.
    __device__ void anneal(int64_t made) const {
        int64_t at = made - plan_.tuning - 1, length = plan_.cycle;
        while (at >= length) at -= length, length *= 2;
        const double* const range =
            plan_.range + 2 * (int64_t(local_) * (all_.population / rungs_) + number_);
        const double part = double(at) / double(max(length - 1, int64_t(1)));
        const double now = range[1] * exact::pow(range[0] / range[1], part);
        for (int rung = 0; rung < rungs_; ++rung) temperature(rung) = now;
    }
#else
    __device__ double unit() const { return *plan_.unit; }
    __device__ static bool anneals() { return false; }
    __device__ static void anneal(int64_t) {}
    __device__ void take(double low, double high) const { spread(low, high); }

    // Keep the sum of the energies, and cool all replicas for the next generation.
    __device__ void cool(int64_t made) const {
        double sum = 0.0;
        for (int i = 0; i < rungs_; ++i) sum += double(plan_.energy[first_ + i]);
        heat(number_, made) = sum;
        const double next = cooled(made < plan_.tuning ? made + 1 : made);
        spread(next, next);
    }

    __device__ double& heat(int ladder, int64_t made) const {
        const int64_t ladders = all_.population / rungs_;
        return plan_.heat[(local_ * ladders + ladder) * plan_.tuning + made - 1];
    }

    // Return the mean energy of a generation of the tuning, over all replicas of the island.
    __device__ double mean_energy(int64_t made) const {
        double sum = 0.0;
        for (int k = 0; k < all_.population / rungs_; ++k) sum += heat(k, made);
        return sum / all_.population;
    }

    __device__ void tune() const {
        const double low = temperature_of(plan_.cold_excess);
        const double high = temperature_of(plan_.hot_excess);
        spread(low, high > LEAST_RATIO * low ? high : LEAST_RATIO * low);
    }

    // Return the lowest temperature at which the mean energy exceeds that of the coldest generation
    // by a number of temperatures per item, interpolated between two generations.
    __device__ double temperature_of(double excess) const {
        int64_t made = plan_.tuning;
        double here = excess_of(made), colder = here;
        while (here < excess && made > 1) colder = here, here = excess_of(--made);
        if (!(colder < excess && excess < here)) return cooled(made);
        const double part = (excess - colder) / (here - colder);
        return cooled(made + 1) * exact::pow(cooled(made) / cooled(made + 1), part);
    }

    // Return by how many temperatures per item the mean energy of a generation of the tuning
    // exceeds that of the last one.
    __device__ double excess_of(int64_t made) const {
        const double above = mean_energy(made) - mean_energy(plan_.tuning);
        return above / (cooled(made) * all_.shape.n);
    }
#endif

    const Islands& all_;
    const Plan& plan_;
    const int local_, number_, rungs_;
    const int64_t first_;
    int64_t* const record_;
};

}  // namespace tempering
