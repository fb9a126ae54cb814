// The Markov chain of a replica of a user-defined problem whose solutions are evaluated by all
// threads of a block together, or repaired: applies each proposed move to a copy of the solution,
// which is kept or discarded by the Metropolis rule. Otherwise the same as move_chain.cuh. Reads
// the problem's data; changes the solution, and keeps the best one.
// Random streams: PROPOSALS.
#pragma once

#include "tempering/move_rule.cuh"
#include "tempering/moving.cuh"
#include "tempering/proposals.cuh"

namespace tempering {

class Chain : public MovingChain {
  public:
    __device__ Chain(Scratch& scratch, Gene* row, Gene* best, const encoding::Shape& shape,
                     const problem::Data& data, const algorithm::Plan& plan, int64_t)
        : shape_(shape),
          n_(genes::items(shape)),
          pitch_(shape.pitch),
          effort_(int(plan.effort)),
          row_(row),
          best_(best),
          data_(data),
          candidate_(scratch.take<Gene>(shape.pitch)),
          change_(scratch.take<double>(ROUGHNESS_SAMPLES)) {}

    // See move_chain.cuh.
    __device__ Costs run(Costs costs, int proposals, bool, const Acceptance<Delta>& acceptance,
                         const draw::Place& place, const improver::Plan& improving) {
        costs.proposed = 0;
        if (n_ < proposals::FEWEST_ITEMS) return costs;
        improver::Lookout lookout(improving);
        int64_t end = proposals, next = 0;
        for (; next < min(end, costs.most) && !lookout.halts(); ++next) {
            const uint4 words = rule::words_of(place, next);
            const auto move = proposals::drawn(words, row_, shape_);
            if (!proposals::exists(move)) continue;
            const int64_t cost = cost_after(move);
            const auto [accepts, climbs] = rule::decide(cost, costs.current, acceptance, words.w);
            if (!accepts) continue;
            end -= effort_;
            costs.climbs += climbs;
            costs.current = cost;
            copy_row(row_, candidate_, pitch_);
            if (cost < costs.best) {
                costs.best = cost;
                copy_row(best_, candidate_, pitch_);
            }
            __syncthreads();
        }
        costs.proposed = rule::proposed(next, end);
        costs.beyond = next - costs.proposed;
        return costs;
    }

    // Return the number of moves that roughness() tries.
    __device__ int samples() const { return n_ < proposals::FEWEST_ITEMS ? 0 : ROUGHNESS_SAMPLES; }

    // Return the mean cost change of some moves; those to or from infinity count as zero.
    __device__ double roughness(int64_t cost, const draw::Place& place,
                                const improver::Plan& improving) const {
        if (n_ < proposals::FEWEST_ITEMS) return 0.0;
        improver::Lookout lookout(improving);
        for (int i = 0; i < ROUGHNESS_SAMPLES; ++i) {
            if (lookout.halts()) return 0.0;
            const Move move = proposals::drawn(rule::words_of(place, i), row_, shape_);
            const double by = rule::change(cost_after(move), cost);
            if (threadIdx.x == 0) change_[i] = by;
        }
        __syncthreads();
        const auto change = [&](int i) { return change_[i]; };
        return block::sum(ROUGHNESS_SAMPLES, change) / ROUGHNESS_SAMPLES;
    }

  private:
    using Move = problem::Move;

    // Return the cost of the candidate, the solution after a move.
    __device__ int64_t cost_after(const Move& move) const {
        __syncthreads();  // the previous one has been read
        copy_row(candidate_, row_, pitch_);
        __syncthreads();
        move.apply(candidate_);
        return problem::cost_repaired(candidate_, n_, data_);
    }

    const encoding::Shape& shape_;
    const int n_, pitch_, effort_;
    Gene* const row_;
    Gene* const best_;
    const problem::Data& data_;
    Gene* const candidate_;
    double* const change_;
};

}  // namespace tempering
