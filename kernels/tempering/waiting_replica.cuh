// One generation of a replica whose moves the host or a Python function evaluates: it proposes
// moves, waits for their costs between launches, and applies the first accepted one, like the chain
// of move_chain.cuh; both follow move_rule.cuh. It proposes one move at a time, or up to
// TEMPERING_LOOKS while most are rejected. All evaluated moves count as evaluations; moves that
// change nothing are not evaluated. Reads generation g, writes g + 1, and `outside` in between.
// Random streams: START, MUTANT, PROPOSALS; CROSS of the crossover.
#pragma once

#include "core/islands.cuh"
#include "tempering/move_rule.cuh"
#include "tempering/proposals.cuh"

namespace tempering {

using algorithm::Progress;
using problem::Move;

class Replica {
  public:
    __device__ Replica(Scratch& scratch, const Islands& all, const problem::Data& data,
                       const Plan& plan, int local, int slot)
        : all_(all),
          plan_(plan),
          local_(local),
          slot_(slot),
          me_(all.number(local, slot)),
          state_(plan.state + me_ * all.shape.pitch),
          children_(all.outside.genes + me_ * MOST * all.shape.pitch),
          cross_(scratch, all.shape, data, plan),
          own_(plan.chain.progress[me_]) {}

    // Return the scratch memory that a replica needs, in bytes.
    __device__ static int64_t room(const Islands& all, const problem::Data& data,
                                   const Plan& plan) {
        Scratch scratch(nullptr);
        const Cross cross(scratch, all.shape, data, plan);
        return scratch.bytes();
    }

    // Start generation 0; `is_given` if the genes of the individual already exist.
    __device__ void start(bool is_given) {
        own_ = {};
        if (all_.is_absent(local_, slot_)) {
            all_.leave_out(local_, slot_);
            return end();
        }
        Gene* const genes = genes_of(0);
        if (!is_given) Chain::draw(genes, all_.shape, place(0), stream::START, plan_);
        __syncthreads();
        copy(state_, genes);
        __syncthreads();
        if (threadIdx.x == 0) {
            Price::begin(plan_, number_of_ladder(all_, plan_, local_, slot_));
        }
        wait_for_state(Progress::FIRST);
    }

    // Start the next generation.
    __device__ void advance() {
        const int64_t before = all_.island[local_].generation, made = before + 1;
        const bool may_evaluate = all_.quota_of(local_, slot_) > 0;
        const int32_t mate = !may_evaluate                 ? NO_MATE
                             : all_.island[local_].restart ? NEWCOMER
                                                           : plan_.mate[me_];
        own_ = {};
        if (mate == NO_MATE) {
            copy(genes_of(made), genes_of(before));
            own_.current = plan_.energy[me_];
            own_.best = all_.cost[row(before)];
            if (Price::ADAPTS && may_evaluate && priced::is_infeasible(own_.current)) {
                return wait_for_state(Progress::REPRICED);
            }
            return begin_moves(made);
        }
        if (mate == NEWCOMER) {
            Chain::draw(state_, all_.shape, place(made), stream::MUTANT, plan_);
        } else {
            const int32_t first = all_.row(before, local_, 0);
            const int mine = descends() ? slot_ : best_of_ladder(all_, plan_.rungs, local_, slot_);
            const Gene* const genes = all_.genes_of(first + mine);
            copy(state_, genes);  // including the padding
            __syncthreads();
            cross_.make(state_, genes, all_.genes_of(first + mate), place(made));
        }
        __syncthreads();
        wait_for_state(Progress::RENEWED);
    }

    // Continue with the costs of the evaluated children.
    __device__ void evaluate(int64_t made) {
        const int evaluated = all_.outside.waiting[me_];
        if (own_.phase == Progress::DONE || evaluated == 0) return;
        const int64_t* const cost = all_.outside.cost + me_ * MOST;
        if (own_.phase == Progress::FIRST) {
            own_.current = own_.best = cost[0];
            copy(state_, children_);  // the host may have corrected it
            copy(genes_of(0), children_);
            store(0, 1, 0);
            __syncthreads();  // the state is complete
            begin_samples();
        } else if (own_.phase == Progress::SAMPLES) {
            measure(cost, evaluated);
        } else if (own_.phase == Progress::REPRICED) {
            own_.current = cost[0];
            if (priced::is_infeasible(own_.best)) {
                own_.best = cost[0];
                copy(genes_of(made), state_);
            }
            own_.evaluated = 1;
            begin_moves(made);
        } else if (own_.phase == Progress::RENEWED) {
            copy(state_, children_);
            __syncthreads();
            begin_with(cost[0], made);
            own_.evaluated = 1;
            begin_moves(made);
        } else {
            choose(cost, evaluated, made);
            propose(made);
        }
    }

    __device__ void evaluate_next() { evaluate(all_.island[local_].generation + 1); }

  private:
    static constexpr int MOST = ISLANDS_OUTSIDE;  // simultaneous proposals
    static constexpr int SAMPLES = ROUGHNESS_SAMPLES;
    static constexpr int64_t LOOKS = TEMPERING_LOOKS;  // maximum number of waiting moves
    static_assert(MOST >= SAMPLES, "all samples are evaluated at once");
    static_assert(MOST >= LOOKS, "there is a child for each move that waits");

    // Begin the generation with a new state, a child or a random solution, and its cost.
    __device__ void begin_with(int64_t cost, int64_t made) {
        const int64_t best = all_.cost[row(made - 1)];
        const bool keeps = !all_.island[local_].restart && plan_.mate[me_] != NEWCOMER &&
                           descends() && best <= cost;
        copy(genes_of(made), keeps ? genes_of(made - 1) : state_);
        own_.current = cost;
        own_.best = keeps ? best : cost;
    }

    // Measure the mean cost change of some moves, as roughness() in move_chain.cuh does.
    __device__ void begin_samples() {
        const int64_t left = all_.quota_of(local_, slot_) - 1;
        int count = 0;
        for (int i = 0; i < SAMPLES && count < left; ++i) {
            if (is_sampled(i)) make_child(count++, move_at(i, 0));
        }
        if (count == 0) {
            if (threadIdx.x == 0) plan_.roughness[me_] = 0.0;
            return end();
        }
        wait_for(count, Progress::SAMPLES);
    }

    __device__ bool is_sampled(int i) const {
        return items() >= proposals::FEWEST_ITEMS && changes(move_at(i, 0));
    }

    __device__ void measure(const int64_t* cost, int evaluated) {
        const auto change = [&](int i) {
            int child = 0;
            for (int k = 0; k < i; ++k) child += is_sampled(k);
            const bool is_evaluated = is_sampled(i) && child < evaluated;
            return is_evaluated ? rule::change(cost[child], own_.current) : 0.0;
        };
        const double rough = block::sum(SAMPLES, change) / SAMPLES;
        if (threadIdx.x == 0) {
            plan_.roughness[me_] = rough;
            plan_.ends.proposals[me_] += evaluated;
        }
        all_.count(local_, slot_, evaluated);
        end();
    }

    __device__ void begin_moves(int64_t made) {
        own_.next = own_.called = 0;
        own_.looks = 1;
        own_.end = items() < proposals::FEWEST_ITEMS ? 0 : plan_.sweeps;
        propose(made);
    }

    // Propose moves of the state, or end the generation. Moves that change nothing need no child.
    __device__ void propose(int64_t made) {
        const int64_t left = all_.quota_of(local_, slot_) - own_.evaluated - own_.called;
        __syncthreads();  // the state is complete
        int count = 0, most = 0;
        while (count == 0 && (most = int(min(own_.looks, min(own_.end - own_.next, left)))) > 0) {
            for (; count < most; ++count) {
                const Move move = move_at(own_.next + count, made);
                if (!changes(move)) break;
                make_child(count, move);
            }
            if (count == 0) stay(made);
        }
        if (count > 0) return wait_for(count, Progress::MOVES);
        const int64_t proposed = rule::proposed(own_.next, own_.end);
        store(made, proposed + own_.evaluated, own_.called - proposed);
        end();
    }

    // Skip a move that changes nothing; a valid one is accepted, as the cost is not higher.
    __device__ void stay(int64_t made) {
        if (proposals::exists(move_at(own_.next++, made))) own_.end -= int(plan_.effort);
    }

    // Apply the first accepted move.
    __device__ void choose(const int64_t* cost, int evaluated, int64_t made) {
        const int64_t rung = all_.number(local_, slot_ / plan_.rungs * plan_.rungs);
        const Acceptance<Delta> acceptance(plan_.temperature[rung + plan_.rung[me_]]);
        own_.called += evaluated;
        for (int k = 0; k < evaluated; ++k) {
            const uint32_t word = words_of(own_.next + k, made).w;
            const auto [accepts, climbs] = rule::decide(cost[k], own_.current, acceptance, word);
            if (!accepts) continue;
            const Gene* const child = children_ + int64_t(k) * all_.shape.pitch;
            own_.next += k + 1;
            if (2 * k < own_.looks) own_.looks = max(own_.looks / 2, int64_t(1));
            own_.end -= int(plan_.effort);
            own_.climbs += climbs;
            own_.current = cost[k];
            copy(state_, child);
            if (cost[k] < own_.best) {
                own_.best = cost[k];
                copy(genes_of(made), child);
            }
            return;
        }
        own_.next += evaluated;
        own_.looks = min(2 * own_.looks, LOOKS);
    }

    __device__ uint4 words_of(int64_t number, int64_t made) const {
        return rule::words_of(place(made), number);
    }
    __device__ Move move_at(int64_t number, int64_t made) const {
        return proposals::drawn(words_of(number, made), state_, all_.shape);
    }

    __device__ bool changes(const Move& move) const { return proposals::changes(move, state_); }

    // Create a child: the state after a move.
    __device__ void make_child(int k, const Move& move) {
        Gene* const child = children_ + int64_t(k) * all_.shape.pitch;
        copy(child, state_);
        __syncthreads();
        move.apply(child);
        show(k);
    }

    __device__ void wait_for_state(int32_t phase) {
        copy(children_, state_);
        __syncthreads();
        show(0);
        wait_for(1, phase);
    }

    // Store a child for a Python function that takes all children at once.
    __device__ void show(int k) const {
#ifdef ISLANDS_STORED
        const int length = problem::stored_length(items());
        problem::Stored* const to = problem::stored_at(
            all_.outside.solutions, all_.population * MOST, local_, slot_ * MOST + k, items());
        const Gene* const child = children_ + int64_t(k) * all_.shape.pitch;
        for (int i = threadIdx.x; i < length; i += blockDim.x) to[i] = child[i];
#endif
    }

    __device__ void wait_for(int count, int32_t phase) {
        own_.phase = phase;
        __syncthreads();  // all threads have read the progress
        if (threadIdx.x == 0) {
            all_.outside.waiting[me_] = count;
            plan_.chain.progress[me_] = own_;
        }
    }
    __device__ void end() { wait_for(0, Progress::DONE); }

    // Store the results: `beyond` moves were evaluated in addition to the proposals that count for
    // the temperatures.
    __device__ void store(int64_t made, int64_t proposed, int64_t beyond) const {
        if (threadIdx.x == 0) {
            all_.cost[row(made)] = own_.best;
            plan_.energy[me_] = own_.current;
            plan_.held[me_] = own_.best;
            Ends::count(plan_, me_, {own_.current, own_.best, proposed, beyond, own_.climbs});
        }
        all_.count(local_, slot_, proposed + beyond);
    }

    __device__ bool descends() const { return plan_.descent > 0; }
    __device__ int items() const { return genes::items(all_.shape); }
    __device__ int32_t row(int64_t generation) const { return all_.row(generation, local_, slot_); }
    __device__ Gene* genes_of(int64_t generation) const { return all_.genes_of(row(generation)); }
    __device__ draw::Place place(int64_t made) const { return all_.place(local_, made, slot_); }
    __device__ void copy(Gene* to, const Gene* from) const { copy_row(to, from, all_.shape.pitch); }

    const Islands& all_;
    const Plan& plan_;
    const int local_, slot_;
    const int64_t me_;
    Gene* const state_;
    Gene* const children_;
    Cross cross_;
    Progress own_;
};

}  // namespace tempering
