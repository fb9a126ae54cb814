// The Markov chain of a replica of a user-defined problem: proposes random moves, whose costs are
// evaluated one by one, and accepts them by the Metropolis rule. The threads of a block evaluate
// one proposal each and apply the first accepted one, so the chain does not depend on the
// number of threads. Reads the problem's data; changes the solution, and keeps the best one.
// Random streams: PROPOSALS.
#pragma once

#include "tempering/blocks.cuh"
#include "tempering/move_rule.cuh"
#include "tempering/moving.cuh"
#include "tempering/proposals.cuh"

namespace tempering {

using problem::Move;

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
          evaluator_(scratch, n_, data),
          blocks_(scratch, shape) {}

    // Perform a number of proposals; an accepted one counts as several. `row` is complete and
    // visible to all threads on entry and on return.
    __device__ Costs run(Costs costs, int proposals, bool, const Acceptance<Delta>& acceptance,
                         const draw::Place& place, const improver::Plan& improving) {
        costs.proposed = 0;
        if (n_ < proposals::FEWEST_ITEMS) return costs;
        improver::Lookout lookout(improving);
        evaluator_.prepare(row_);
        const int64_t before = costs.best;
        int64_t end = proposals, next = 0;
        int looks = blockDim.x;  // proposals evaluated together
        for (int turn = 0; next < min(end, costs.most) && !lookout.halts(); turn ^= 1) {
            const int64_t mine = next + threadIdx.x;
            Bid bid;
            if (mine < min(end, costs.most) && int(threadIdx.x) < looks) {
                const uint4 words = rule::words_of(place, mine);
                Move move;
                if (blocks_.are_at(words)) {
                    bid = {threadIdx.x, {}};  // evaluated later by all threads
                } else if (proposals::draws(evaluator_, words, row_, shape_, move)) {
                    const int64_t cost = evaluator_.cost_after(row_, move, costs.current);
                    const auto decision = rule::decide(cost, costs.current, acceptance, words.w);
                    if (decision.accepts) bid = {threadIdx.x, {cost, move, decision.climbs}};
                }
            }
            const auto found = block::lowest(bid, turn);
            if (found.key == found.NONE) {
                next = min(next + looks, min(end, costs.most));
                looks = min(2 * looks, int(blockDim.x));
                continue;
            }
            const uint4 words = rule::words_of(place, next + found.key);
            next += found.key + 1;
            if (int(found.key) < looks / 4 && looks > proposals::FEWEST_LOOKS) looks /= 2;
            if (blocks_.are_at(words)) {
                int evaluated = 0;
                const auto decision =
                    blocks_.run(evaluator_, row_, words, acceptance, costs.current, evaluated);
                costs.climbs += decision.climbs && decision.accepts;
                end -= evaluated;
            } else {
                const auto [cost, move, climbs] = found.value;
                costs.climbs += climbs;
                end -= effort_;
                costs.current = evaluator_.make(row_, move, costs.current, cost);
            }
            if (costs.current < costs.best) {
                costs.best = costs.current;
                copy_row(best_, row_, pitch_);
                __syncthreads();
            }
        }
        costs.proposed = rule::proposed(next, end);
        costs.beyond = next - costs.proposed;
        if (COSTS_REAL && problem::ADDS_CHANGES) {
            costs.current = problem::cost_after(row_, n_, data_);
            if (costs.best != before) costs.best = problem::cost_after(best_, n_, data_);
        }
        return costs;
    }

    // Return the number of moves that roughness() tries.
    __device__ int samples() const { return n_ < proposals::FEWEST_ITEMS ? 0 : ROUGHNESS_SAMPLES; }

    // Return the mean cost change of some moves; those to or from infinity count as zero.
    __device__ double roughness(int64_t cost, const draw::Place& place,
                                const improver::Plan& improving) const {
        if (n_ < proposals::FEWEST_ITEMS) return 0.0;
        evaluator_.prepare(row_);
        improver::Lookout lookout(improving);
        const auto change = [&](int i) {
            if (lookout.sees()) return 0.0;
            const auto words = rule::words_of(place, i);
            Move move;
            if (!proposals::draws(evaluator_, words, row_, shape_, move)) return 0.0;
            return rule::change(evaluator_.cost_after(row_, move, cost), cost);
        };
        return block::sum(ROUGHNESS_SAMPLES, change) / ROUGHNESS_SAMPLES;
    }

  private:
    struct Step {
        int64_t cost;
        Move move;
        bool climbs;
    };
    using Bid = block::Bid<Step>;

    const encoding::Shape& shape_;
    const int n_, pitch_, effort_;
    Gene* const row_;
    Gene* const best_;
    const problem::Data& data_;
    const problem::Evaluator evaluator_;
    Blocks blocks_;
};

}  // namespace tempering
