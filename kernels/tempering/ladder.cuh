// A ladder of replicas, processed by one thread: sets temperatures after the tuning phase,
// exchanges them between replicas (or lets replicas descend), and renews replicas on stagnation.
// Reads the replicas of generation g and their costs; writes their rungs and mates, temperatures
// and records. Random streams: RUNGS, RENEWAL.
#pragma once

#include TEMPERING_CHAINS

#include "core/exponential.cuh"
#include "tempering/base.cuh"

namespace tempering {

class Ladder : public Ends {
  public:
    __device__ Ladder(const Islands& all, const Plan& plan, int local, int number)
        : Ends(all, plan, local, number), record_(plan.records + 2 * of_rank(number)) {}

    // Prepare generation 0. If a replica has no evaluation in generation 0, the host copies an
    // individual to it; `held` is set so that adopt() recognises the copy as new. Roughness samples
    // that a limit of evaluations has cut short do not count.
    __device__ void start() const {
        for (int i = 0; i < rungs_; ++i) {
            const int64_t me = first_ + i;
            const int slot = number_ * rungs_ + i;
            plan_.rung[me] = i;
            plan_.mate[me] = NO_MATE;
            if (all_.is_absent(local_, slot)) plan_.held[me] = block::Least<int64_t>::NONE;
            const bool is_cut = all_.quota_of(local_, slot) <= ROUGHNESS_SAMPLES;
            if (plan_.roughness != nullptr && is_cut) plan_.roughness[me] = 0.0;
        }
        if (plan_.tuning > 0) {
            spread(cooled(1), cooled(1));
        } else {
            set_range(plan_.low * unit(), plan_.high * unit());
        }
        record_[0] = cost(0, best(0));
        record_[1] = 0;
        Price::begin(plan_, of_rank(number_));
        const int64_t number = all_.island[local_].number * ladders() + number_;
        Chain::begin_ladder(plan_, of_rank(number_), number);
    }

    // Complete a generation.
    __device__ void end(int64_t made) const {
        const bool is_tuning = made <= plan_.tuning;
        Price::adapt(plan_, of_rank(number_), first_);
        if (is_tuning) {
            cool(made);
        } else if (made == plan_.tuning + 1 && plan_.tuning > 0) {
            tune();
        } else if (anneals()) {
            anneal(made);
        } else if (plan_.descent == 0) {
            exchange_rungs(made);
        }
        const int leader = best(made);
        for (int i = 0; i < rungs_; ++i) plan_.mate[first_ + i] = NO_MATE;
        if (plan_.descent > 0 && !is_tuning && made % plan_.descent == 0) descend(made);
        if (anneals() && made > plan_.tuning + 1 && reheats(made)) begin_again(made, leader);
        if (all_.island[local_].restart || cost(made, leader) < record_[0]) {
            record_[0] = cost(made, leader);
            record_[1] = made;
        } else if (plan_.descent == 0 && plan_.patience > 0 &&
                   made - record_[1] >= plan_.patience && !is_tuning) {
            record_[1] = made;
            renew(made, leader);
        }
    }

    // Make each immigrant the state of its replica. If its energy is below that of the coldest
    // replica, exchange the rungs of the two. Individuals other than immigrants are unchanged, so
    // this may be repeated.
    __device__ void adopt() const {
        const int64_t now = all_.island[local_].generation;
        for (int i = 0; i < rungs_; ++i) {
            const int64_t me = first_ + i;
            const int32_t row = all_.row(now, local_, number_ * rungs_ + i);
            Chain::adopt(all_, plan_, me);
            if (all_.cost[row] == plan_.held[me]) continue;
            plan_.held[me] = all_.cost[row];
            plan_.mate[me] = NO_MATE;  // otherwise a child would replace it
            plan_.energy[me] = Chain::energy_of(all_.cost[row], plan_);
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
    __device__ int64_t cost(int64_t generation, int i) const {
        return all_.cost[all_.row(generation, local_, number_ * rungs_ + i)];
    }

    // Return the replica with the best individual.
    __device__ int best(int64_t generation) const {
        int best = 0;
        for (int i = 1; i < rungs_; ++i) {
            if (cost(generation, i) < cost(generation, best)) best = i;
        }
        return best;
    }

    // Return the replica at a rung.
    __device__ int64_t holder(int rung) const {
        int64_t me = first_;
        while (plan_.rung[me] != rung) ++me;
        return me;
    }

    // Exchange neighbouring temperatures between their replicas, with the probability that
    // preserves the distribution at each temperature.
    __device__ void exchange_rungs(int64_t made) const {
        const draw::Place place = all_.place(local_, made, number_ * rungs_);
        for (int rung = made % 2; rung + 1 < rungs_; rung += 2) {
            const int64_t cold = holder(rung), hot = holder(rung + 1);
            const double inverse_cold = 1.0 / temperature(rung);
            const double inverse_hot = 1.0 / temperature(rung + 1);
            const double gain = difference(plan_.energy[cold], plan_.energy[hot]);
            const double exponent = (inverse_cold - inverse_hot) * gain;
            const uint32_t word = place.words(stream::RUNGS, rung).x;
            if (exponent < 0.0 && draw::inner_fraction(word) >= exact::exp(exponent)) continue;
            plan_.rung[cold] = rung + 1;
            plan_.rung[hot] = rung;
        }
    }

    // Move each replica to the next colder rung. The coldest one becomes the hottest, and begins
    // the next generation as a child of its individual and a random one.
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

    // Let each replica begin the next generation as a child of the best individual of the ladder
    // and a random other one.
    __device__ void begin_again(int64_t made, int leader) const {
        const draw::Place place = all_.place(local_, made, number_ * rungs_);
        for (int i = 0; i < rungs_; ++i) {
            const int other = draw::below(place.words(stream::RENEWAL, i).x, all_.population - 1);
            plan_.mate[first_ + i] = other < number_ * rungs_ + leader ? other : other + 1;
        }
    }

    // Let replicas begin the next generation as children of the best individuals of this ladder and
    // of a random other one. If this is the only ladder, they begin with random solutions. This
    // applies to the hottest rungs, except the replica with the best individual. If the problem
    // defines a crossover, it applies to all rungs, and in a single ladder, replicas begin as
    // children of the best individual and their own individual.
    __device__ void renew(int64_t made, int leader) const {
        Chain::renew_ladder(plan_, of_rank(number_));
        const int count = ladders();
        const draw::Place place = all_.place(local_, made, number_ * rungs_);
        for (int i = 0; i < rungs_; ++i) {
            const int rung = plan_.rung[first_ + i];
            const bool is_hot = rung >= plan_.renewed_from && rung < plan_.renewed_to;
            if (i == leader || !(is_hot || Cross::IS_OF_PROBLEM)) continue;
            int32_t mate = Cross::IS_OF_PROBLEM ? number_ * rungs_ + i : NEWCOMER;
            if (count > 1) {
                const int other = draw::below(place.words(stream::RENEWAL, i).x, count - 1);
                const Ladder chosen(all_, plan_, local_, other < number_ ? other : other + 1);
                mate = chosen.number_ * rungs_ + chosen.best(made);
            }
            plan_.mate[first_ + i] = mate;
        }
    }

    int64_t* const record_;
};

}  // namespace tempering
