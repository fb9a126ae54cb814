// One replica in one generation: where it begins, its chain, and what it stores. Reads generation
// g, writes g + 1.
// Random streams: START, MUTANT; CROSS, of a crossover, also of the problem; those of the chain.
#pragma once

#include "core/islands.cuh"
#include "improvers/base.cuh"
#include "tempering/acceptance.cuh"
#include "tempering/plan.cuh"
#ifdef TEMPERING_WEIGHT
#include "tempering/subset_chain.cuh"
#include "tempering/subset_cross.cuh"
#elif defined(TEMPERING_PAIRS)
#include "tempering/core_chain.cuh"
#include "tempering/mixed_cross.cuh"
#elif defined(TEMPERING_TRIES)
#ifdef STATED_WHOLE
#include "tempering/whole_chain.cuh"
#else
#include "tempering/move_chain.cuh"
#endif
#if SOLUTION_KIND == SOLUTION_ORDER
#include "tempering/order_cross.cuh"
#else
#include "tempering/mixed_cross.cuh"
#endif
#else
#include "tempering/chain.cuh"
#include "tempering/order_cross.cuh"
#endif

namespace tempering {

using algorithm::Plan;
using encoding::Gene;

// Work of a replica per generation of the tuning, which has many: at most this number of sweeps.
constexpr int TUNING_SWEEPS = 96;
#ifdef TEMPERING_SHARES
constexpr bool MEASURES = false;  // sweeps are proposals
#else
constexpr bool MEASURES = true;
#endif

class Replica {
  public:
    __device__ Replica(Scratch& scratch, const Islands& all, const problem::Data& data,
                       const Plan& plan)
        : all_(all),
          data_(data),
#ifdef TEMPERING_ADAPTS
          given_(data),
#endif
          plan_(plan),
          order_(scratch.take<Gene>(all.shape.pitch)),
          best_order_(scratch.take<Gene>(all.shape.pitch)),
          scratch_(scratch) {
    }

    // Return the number of bytes that any of its steps takes.
    __device__ static int64_t room(const Islands& all, const problem::Data& data,
                                   const Plan& plan) {
        Scratch scratch(nullptr);
        const Replica replica(scratch, all, data, plan);
        Scratch of_chain = scratch, of_cross = scratch;
        const Chain chain(of_chain, nullptr, nullptr, all.shape, data, plan, 0);
        const Cross cross(of_cross, all.shape, plan);
        const int64_t most = max(of_chain.bytes(), of_cross.bytes());
#ifdef TEMPERING_PAIRS
        Scratch of_evaluation = scratch;
        const problem::Workspace evaluation(of_evaluation, genes::items(all.shape), data);
        return max(most, of_evaluation.bytes());
#else
        return most;
#endif
    }

    // Make generation 0 of an individual; `is_given` if its genes exist already.
    __device__ void start(int local, int slot, bool is_given, const improver::Plan& improving) {
        const int32_t row = all_.row(0, local, slot);
#ifdef TEMPERING_ADAPTS
        take_price(FIRST_FACTOR);
#endif
        Gene* const genes = all_.genes_of(row);
        if (!is_given) fill(genes, all_.shape, all_.place(local, 0, slot), stream::START, plan_);
        __syncthreads();
        copy_row(order_, genes, all_.shape.pitch);
        __syncthreads();
        const int64_t cost = evaluate(all_.place(local, 0, slot));
        if (plan_.deltas != nullptr && threadIdx.x == 0) {
            plan_.deltas_of[all_.number(local, slot)] = NO_DELTAS;
        }
        const int64_t me = all_.number(local, slot);
        int64_t evaluated = 1;
#ifdef TEMPERING_TRIES
        Scratch scratch = scratch_;
        Chain chain(scratch, order_, best_order_, all_.shape, data_, plan_, me);
        const double rough = chain.roughness(cost, all_.place(local, 0, slot), improving);
        if (threadIdx.x == 0) plan_.roughness[me] = rough;
        evaluated += chain.samples();
#endif
        store({energy_of(cost, plan_), cost, evaluated}, best_order_, 0, local, slot);
        if (threadIdx.x == 0) {
            plan_.rung[me] = slot % plan_.rungs;
            plan_.mate[me] = NO_MATE;
        }
    }

    // Make the next generation of an individual.
    __device__ void advance(int local, int slot, const improver::Plan& improving) {
        const int64_t made = all_.island[local].generation + 1, me = all_.number(local, slot);
        const draw::Place place = all_.place(local, made, slot);
        const int32_t mate = all_.island[local].restart ? NEWCOMER : plan_.mate[me];
        int64_t evaluated = 0;
#ifdef TEMPERING_ADAPTS
        take_price(plan_.price[number_of_ladder(all_, plan_, local, slot)]);
#endif
        const Costs begin = mate == NO_MATE ? resumed(local, slot, made - 1, evaluated)
                                            : renewed(mate, local, slot, place, evaluated);
        const int ladder = slot / plan_.rungs * plan_.rungs;
        const int64_t rung = all_.number(local, ladder + plan_.rung[me]);
        const Acceptance<Delta> acceptance(plan_.temperature[rung] / Chain::scale(plan_));
        Scratch scratch = scratch_;
        const bool are_kept = takes_deltas(me, made - 1) && mate == NO_MATE;
        Chain chain(scratch, order_, best_order_, all_.shape, data_, plan_, me);
        const int sweeps =
            MEASURES && made <= plan_.tuning ? min(plan_.sweeps, TUNING_SWEEPS) : plan_.sweeps;
        Costs end =
            chain.run(begin, sweeps, are_kept, acceptance, {plan_.alike_places}, place, improving);
        if (TEMPERING_KEEPS && threadIdx.x == 0) plan_.deltas_of[me] = made;
        end.proposed += evaluated;
        store(end, best_order_, made, local, slot);
    }

  private:
    static constexpr int64_t NO_DELTAS = -1;

#ifdef TEMPERING_ADAPTS
    // Take the data of the instance, with its price times a factor.
    __device__ void take_price(double factor) {
        data_ = given_;
        data_._price *= factor;
    }
#endif

    // Make the state the best order, repaired if it may be infeasible; return its cost.
    __device__ int64_t evaluate(const draw::Place& place) const {
#if defined(TEMPERING_TRIES) && !defined(TEMPERING_PAIRS)
        const int64_t cost = problem::cost_repaired(order_, genes::items(all_.shape), data_);
        copy_row(best_order_, order_, all_.shape.pitch);
        __syncthreads();
        return cost;
#else
        copy_row(best_order_, order_, all_.shape.pitch);
        __syncthreads();
#ifdef TEMPERING_PAIRS
        const int items = genes::items(all_.shape);
        const int64_t cost = problem::evaluate(best_order_, scratch_, items, data_, place, 0).cost;
        __syncthreads();
        return cost;
#else
        return problem::cost(order_, all_.shape.n, data_);
#endif
#endif
    }

    // Return whether the deltas of a generation are kept. They will change: if the next generation
    // is abandoned, they are those of no generation.
    __device__ bool takes_deltas(int64_t me, int64_t generation) const {
        if (!TEMPERING_KEEPS) return false;
        const bool are_kept = plan_.deltas_of[me] == generation;
        __syncthreads();
        if (threadIdx.x == 0) plan_.deltas_of[me] = NO_DELTAS;
        return are_kept;
    }

    // Continue from the previous generation. An infeasible state has another price now; as long as
    // no feasible one is known, it is the best one again.
    __device__ Costs resumed(int local, int slot, int64_t before, int64_t& evaluated) const {
        const int32_t row = all_.row(before, local, slot);
        const int64_t me = all_.number(local, slot);
        copy_row(order_, plan_.state + me * all_.shape.pitch, all_.shape.pitch);
        copy_row(best_order_, all_.genes_of(row), all_.shape.pitch);
        __syncthreads();
#ifdef TEMPERING_ADAPTS
        if (priced::is_infeasible(plan_.energy[me])) {
            evaluated = 1;
            const int64_t cost = problem::cost_after(order_, genes::items(all_.shape), data_);
            if (!priced::is_infeasible(all_.cost[row])) return {cost, all_.cost[row], 0};
            copy_row(best_order_, order_, all_.shape.pitch);
            __syncthreads();
            return {cost, cost, 0};
        }
#endif
        return {plan_.energy[me], all_.cost[row], 0};
    }

    // Begin with a new order.
    __device__ Costs renewed(int32_t mate, int local, int slot, const draw::Place& place,
                             int64_t& evaluated) {
        const int pitch = all_.shape.pitch;
        if (mate == NEWCOMER) {
            fill(order_, all_.shape, place, stream::MUTANT, plan_);
            __syncthreads();
        } else {
            const int32_t first = all_.row(place.generation - 1, local, 0);
            const int mine =
                plan_.descent > 0 ? slot : best_of_ladder(all_, plan_.rungs, local, slot);
            const Gene* const genes = all_.genes_of(first + mine);
            Scratch scratch = scratch_;
            copy_row(order_, genes, pitch);  // with the genes after the last item
            __syncthreads();
#ifdef STATED_CROSS
            problem::Judge(scratch, genes::items(all_.shape), data_)
                .make_child(order_, all_.genes_of(first + mate), place.words(stream::CROSS, 0));
#else
            Cross(scratch, all_.shape, plan_)
                .make(order_, genes, all_.genes_of(first + mate), place);
#endif
            evaluated = 1;
            const int64_t cost = evaluate(place);
            const int64_t best = all_.cost[first + slot];
            if (plan_.descent > 0 && best <= cost) {
                copy_row(best_order_, genes, pitch);
                __syncthreads();
                return {cost, best, 0};
            }
            return {cost, cost, 0};
        }
        evaluated = 1;
        const int64_t cost = evaluate(place);
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
#ifdef TEMPERING_SHARES
            plan_.climbs[me] = costs.climbs;
            plan_.proposals[me] = costs.proposed;
#endif
        }
        all_.count(local, slot, costs.proposed);
    }

    const Islands& all_;
#ifdef TEMPERING_ADAPTS
    problem::Data data_;          // with the price of a ladder
    const problem::Data& given_;  // of the island that was chosen last
#else
    const problem::Data& data_;
#endif
    const Plan& plan_;
    Gene* const order_;
    Gene* const best_order_;
    const Scratch scratch_;
};

}  // namespace tempering
