// A replica in one generation: its initial state, its chain, and its stored results. Reads
// generation g, writes g + 1.
// Random streams: START, MUTANT; CROSS of the crossover; those of the chain.
#pragma once

#include TEMPERING_CHAINS

#include "improvers/base.cuh"
#include "tempering/acceptance.cuh"
#include "tempering/base.cuh"

namespace tempering {

class Replica {
  public:
    __device__ Replica(Scratch& scratch, const Islands& all, const problem::Data& data,
                       const Plan& plan)
        : all_(all),
          priced_(data),
          plan_(plan),
          order_(scratch.take<Gene>(all.shape.pitch)),
          best_order_(scratch.take<Gene>(all.shape.pitch)),
          scratch_(scratch) {}

    // Return the scratch memory that a replica needs, in bytes.
    __device__ static int64_t room(const Islands& all, const problem::Data& data,
                                   const Plan& plan) {
        Scratch scratch(nullptr);
        const Replica replica(scratch, all, data, plan);
        Scratch of_chain = scratch, of_cross = scratch;
        const Chain chain(of_chain, nullptr, nullptr, all.shape, data, plan, 0);
        const Cross cross(of_cross, all.shape, data, plan);
        const int64_t of_evaluation = Chain::room_to_evaluate(scratch, all.shape, data);
        return max(max(of_chain.bytes(), of_cross.bytes()), of_evaluation);
    }

    // Create generation 0 of an individual; `is_given` if its genes already exist.
    __device__ void start(int local, int slot, bool is_given, const improver::Plan& improving) {
        const int64_t me = all_.number(local, slot);
        const draw::Place place = all_.place(local, 0, slot);
        priced_.take_first();
        Gene* const genes = all_.genes_of(all_.row(0, local, slot));
        if (!is_given) Chain::draw(genes, all_.shape, place, stream::START, plan_);
        __syncthreads();
        copy_row(order_, genes, all_.shape.pitch);
        __syncthreads();
        const int64_t cost = evaluate(place);
        Scratch scratch = scratch_;
        const int64_t more = Chain::begin(plan_, me, cost, place, improving, [&] {
            return Chain(scratch, order_, best_order_, all_.shape, priced_.data, plan_, me);
        });
        // Moves beyond the quota are not charged here, as their results are not used.
        const int64_t evaluated = min(1 + more, all_.quota_of(local, slot));
        store({Chain::energy_of(cost, plan_), cost, evaluated}, best_order_, 0, local, slot);
    }

    // Create the next generation of an individual.
    __device__ void advance(int local, int slot, const improver::Plan& improving) {
        const int64_t made = all_.island[local].generation + 1, me = all_.number(local, slot);
        const draw::Place place = all_.place(local, made, slot);
        const int64_t most = all_.quota_of(local, slot);
        const int32_t mate = most == 0                    ? NO_MATE
                             : all_.island[local].restart ? NEWCOMER
                                                          : plan_.mate[me];
        int64_t evaluated = 0;
        priced_.take(plan_, number_of_ladder(all_, plan_, local, slot));
        Costs begin = mate == NO_MATE ? resumed(local, slot, made - 1, most > 0, evaluated)
                                      : renewed(mate, local, slot, place, evaluated);
        const int ladder = slot / plan_.rungs * plan_.rungs;
        const int64_t rung = all_.number(local, ladder + plan_.rung[me]);
        const Acceptance<Delta> acceptance(plan_.temperature[rung] / Chain::scale(plan_));
        begin.most = max(most - evaluated, int64_t(0));
        Scratch scratch = scratch_;
        Chain chain(scratch, order_, best_order_, all_.shape, priced_.data, plan_, me);
        const int sweeps =
            made <= plan_.tuning ? min(plan_.sweeps, Ends::TUNING_WORK) : plan_.sweeps;
        Costs end = chain.run(begin, sweeps, mate == NO_MATE, acceptance, place, improving);
        end.proposed += evaluated;
        store(end, best_order_, made, local, slot);
    }

  private:
    // Copy the state to the best solution, repaired if it may be infeasible; return its cost.
    __device__ int64_t evaluate(const draw::Place& place) const {
        return Chain::evaluate(order_, best_order_, scratch_, all_.shape, priced_.data, place);
    }

    // Continue from the previous generation.
    __device__ Costs resumed(int local, int slot, int64_t before, bool may_evaluate,
                             int64_t& evaluated) const {
        const int32_t row = all_.row(before, local, slot);
        const int64_t me = all_.number(local, slot);
        copy_row(order_, plan_.state + me * all_.shape.pitch, all_.shape.pitch);
        copy_row(best_order_, all_.genes_of(row), all_.shape.pitch);
        __syncthreads();
        return priced_.resumed({plan_.energy[me], all_.cost[row], 0}, order_, best_order_,
                               all_.shape, may_evaluate, evaluated);
    }

    // Begin with a new solution.
    __device__ Costs renewed(int32_t mate, int local, int slot, const draw::Place& place,
                             int64_t& evaluated) {
        const int pitch = all_.shape.pitch;
        evaluated = 1;
        if (mate == NEWCOMER) {
            Chain::draw(order_, all_.shape, place, stream::MUTANT, plan_);
            __syncthreads();
            const int64_t cost = evaluate(place);
            return {cost, cost, 0};
        }
        const int32_t first = all_.row(place.generation - 1, local, 0);
        const int mine = plan_.descent > 0 ? slot : best_of_ladder(all_, plan_.rungs, local, slot);
        const Gene* const genes = all_.genes_of(first + mine);
        Scratch scratch = scratch_;
        copy_row(order_, genes, pitch);  // including the padding
        __syncthreads();
        Cross(scratch, all_.shape, priced_.data, plan_)
            .make(order_, genes, all_.genes_of(first + mate), place);
        const int64_t cost = evaluate(place);
        const int64_t best = all_.cost[first + slot];
        if (plan_.descent > 0 && best <= cost) {
            copy_row(best_order_, genes, pitch);
            __syncthreads();
            return {cost, best, 0};
        }
        return {cost, cost, 0};
    }

    __device__ void store(const Costs& costs, const Gene* best_order, int64_t made, int local,
                          int slot) const {
        const int32_t row = all_.row(made, local, slot);
        const int64_t me = all_.number(local, slot);
        copy_row(plan_.state + me * all_.shape.pitch, order_, all_.shape.pitch);
        copy_row(all_.genes_of(row), best_order, all_.shape.pitch);
        if (threadIdx.x == 0) {
            all_.cost[row] = costs.best;
            plan_.energy[me] = costs.current;
            plan_.held[me] = costs.best;
            Ends::count(plan_, me, costs);
        }
        all_.count(local, slot, costs.proposed + costs.beyond);
    }

    const Islands& all_;
    PricedData<problem::Data> priced_;
    const Plan& plan_;
    Gene* const order_;
    Gene* const best_order_;
    const Scratch scratch_;
};

}  // namespace tempering
