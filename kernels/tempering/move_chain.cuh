// The Markov chain of one replica of a user's own problem: proposes random moves, of which it knows
// the costs only one by one, and accepts them by the Metropolis rule. The threads of a block
// evaluate one proposal each, and make the first accepted one, so that the chain does not depend on
// their number. Reads the problem's data; changes the solution, and keeps the best one.
// Random streams: PROPOSALS.
#pragma once

#include "core/costs.cuh"
#include "improvers/base.cuh"
#include "tempering/acceptance.cuh"
#include "tempering/base.cuh"
#include "tempering/plan.cuh"
#include "tempering/proposals.cuh"

namespace tempering {

using Delta = int64_t;
using encoding::Gene;
using proposals::Move;

// Return by how much one cost is above another.
__device__ double above(int64_t cost, int64_t other) {
    return COSTS_REAL ? real::value_of(cost) - real::value_of(other) : double(cost - other);
}

class Chain {
  public:
    __device__ Chain(Scratch&, Gene* row, Gene* best, const encoding::Shape& shape,
                     const problem::Data& data, const algorithm::Plan& plan, int64_t)
        : n_(genes::items(shape)),
          pitch_(shape.pitch),
          effort_(int(plan.effort)),
          row_(row),
          best_(best),
          data_(data) {}

    __device__ static double scale(const algorithm::Plan&) { return 1.0; }

    // Propose a number of moves; an accepted one counts as some more. `row` is complete and visible
    // to all threads on entry and on return.
    __device__ Costs run(Costs costs, int proposals, bool, const Acceptance<Delta>& acceptance,
                         const Alike&, const draw::Place& place, const improver::Plan& improving) {
        costs.proposed = 0;
        if (n_ < 2) return costs;
        improver::Lookout lookout(improving);
        int64_t end = proposals, next = 0;
        for (int turn = 0; next < end && !lookout.halts(); turn ^= 1) {
            const int64_t mine = next + threadIdx.x;
            Bid bid;
            if (mine < end) {
                const uint4 words = place.words<draw::FEWEST_ROUNDS>(stream::PROPOSALS, mine);
                const Move move = proposals::drawn(words, row_, n_);
                const int64_t cost = cost_after(move, costs.current);
                const bool climbs = cost > costs.current;
                if (!climbs || acceptance.takes(above(cost, costs.current), words.w)) {
                    bid = {threadIdx.x, {cost, move, climbs}};
                }
            }
            const auto found = block::lowest(bid, turn);
            if (found.key == found.NONE) {
                next += blockDim.x;
                continue;
            }
            next += found.key + 1;
            end -= effort_;
            const auto [cost, move, climbs] = found.value;
            costs.climbs += climbs;
            costs.current = cost;
            move.apply(row_);
            if (cost < costs.best) {
                costs.best = cost;
                copy_row(best_, row_, pitch_);
                __syncthreads();
            }
        }
        costs.proposed = min(next, max(end, int64_t(1)));
        return costs;
    }

    // Return the mean change of the cost by some moves, without those to or from infinity.
    __device__ double roughness(int64_t cost, const draw::Place& place) const {
        if (n_ < 2) return 0.0;
        const auto change = [&](int i) {
            const auto words = place.words<draw::FEWEST_ROUNDS>(stream::PROPOSALS, i);
            const double by = fabs(above(cost_after(proposals::drawn(words, row_, n_), cost), cost));
            return by < 1e300 ? by : 0.0;
        };
        return block::sum(SAMPLES, change) / SAMPLES;
    }

  private:
    static constexpr int SAMPLES = 32;

    struct Step {
        int64_t cost;
        Move move;
        bool climbs;
    };
    using Bid = block::Bid<Step>;

    // Return the cost after a move; called by one thread.
    __device__ int64_t cost_after(const Move& move, int64_t current) const {
#ifdef STATED_DELTA
        int64_t change = 0;
        if constexpr (proposals::has(moves::Any::SWAP)) {
            if (move.kind == moves::Any::SWAP) change = change_by(moves::Swap{move.u, move.v});
        }
        if constexpr (proposals::has(moves::Any::REVERSAL)) {
            if (move.kind == moves::Any::REVERSAL) {
                change = change_by(moves::Reversal{move.u, move.v});
            }
        }
        if constexpr (proposals::has(moves::Any::INSERTION)) {
            if (move.kind == moves::Any::INSERTION) {
                change = change_by(moves::Insertion{move.u, move.v});
            }
        }
        return real::changed(current, change);
#else
        return problem::cost_moved(row_, n_, data_, move);
#endif
    }

#ifdef STATED_DELTA
    template <class Move>
    __device__ int64_t change_by(const Move& move) const {
        return problem::delta(row_, n_, data_, move);
    }
#endif

    const int n_, pitch_, effort_;
    Gene* const row_;
    Gene* const best_;
    const problem::Data& data_;
};

}  // namespace tempering
