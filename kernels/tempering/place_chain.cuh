// The Markov chain of a replica of a problem that chooses some of n places: proposes to exchange
// each chosen place for each free one in turn, and accepts by the Metropolis rule. An accepted
// exchange updates a field of each place, instead of a delta of each pair. The threads of a block
// evaluate many proposals at once and apply the first accepted one. Random words are only drawn for
// exchanges that may be accepted. Reads the weights; changes the order, and keeps the best one.
// Random streams: PROPOSALS, BEGIN.
#pragma once

#include "improvers/base.cuh"
#include "tempering/acceptance.cuh"
#include "tempering/selection.cuh"
#include "tempering/sweeps.cuh"

namespace tempering {

class Chain : public SweepingChain {
  public:
    __device__ Chain(Scratch& scratch, int32_t* order, int32_t* best_order,
                     const encoding::Shape& shape, const problem::Data&,
                     const algorithm::Plan& plan, int64_t)
        : scale_(plan.chain.scale),
          effort_(plan.effort),
          order_(order),
          best_order_(best_order),
          alike_{plan.chain.alike_places},
          selection_(scratch, shape.n, plan),
          runs_(selection_.runs()),
          share_((uint64_t(1) << 32) / runs_ + 1) {}

    __device__ static double scale(const algorithm::Plan& plan) { return double(plan.chain.scale); }

    // Do as much work as the given sweeps take without acceptances, from a random row of pairs;
    // each chosen place has a row. `order` is complete and visible to all threads on entry and on
    // return.
    __device__ Costs run(Costs costs, int sweeps, bool, const Acceptance<Delta>& acceptance,
                         const draw::Place& place, const improver::Plan& improving) {
        costs.proposed = 0;
        const int rows_per_sweep = selection_.chosen();
        if (rows_per_sweep < 1) return costs;
        selection_.begin(order_);
        __syncthreads();
        const int row = draw::below(place.words(stream::BEGIN, 0).x, rows_per_sweep);
        Rows rows(row, sweeps, rows_per_sweep, effort_);
        Position at{0, row, 0, 0};
        for (int turn = 0;; turn ^= 1) {
            if (POLLING_IS_CHEAP && improver::halts(improving)) break;
            const auto found = block::lowest(first_accepted(at, rows, acceptance, place), turn);
            if (found.key == found.NONE) {
                at = after(at, AHEAD * blockDim.x);
                if (rows.have(at.sweep, at.i)) continue;
                break;
            }
            at = after(at, found.key / block::RUN);
            at.first = at.run * block::RUN + found.key % block::RUN + 1;
            const auto [raised, lost, gained] = found.value;
            costs.current += raised * scale_;
            rows.exchanged(at.sweep, at.i);
            selection_.exchange(at.i, at.first - 1, lost, gained, raised);
            __syncthreads();
            if (costs.current < costs.best) {
                costs.best = costs.current;
                selection_.store(best_order_);
            }
        }
        selection_.store(order_);
        __syncthreads();
        costs.proposed = int64_t(rows.end() - row) * selection_.free();
        return costs;
    }

  private:
    // The next proposal: chosen place i with the free places of a run, from `first`.
    struct Position {
        int sweep, i, run, first;
    };
    struct Exchange {
        Delta raised;
        int32_t lost, gained;
    };
    using Bid = block::Bid<Exchange>;

    // Number of runs that each thread evaluates before an exchange is selected.
    static constexpr int AHEAD = POLLING_IS_CHEAP ? 16 : 4;

    // Return the position after `passed` more runs. The product is an exact quotient, as there are
    // at most 2^16 places.
    __device__ Position after(const Position& at, int passed) const {
        const int run = at.run + passed, rows = int(uint64_t(run) * share_ >> 32);
        Position next{at.sweep, at.i + rows, run - rows * runs_, 0};
        if (const int chosen = selection_.chosen(); next.i >= chosen) {
            next.sweep += next.i / chosen;
            next.i %= chosen;
        }
        return next;
    }

    // Return the first accepted exchange that this thread finds in the rows: its distance from
    // `at`, in entries of runs, and the exchanged places.
    __device__ Bid first_accepted(const Position& at, const Rows& rows,
                                  const Acceptance<Delta>& acceptance,
                                  const draw::Place& place) const {
        uint32_t open = 0;
        for (int k = 0; k < AHEAD; ++k) {
            const Position next = after(at, k * blockDim.x + threadIdx.x);
            if (!rows.have(next.sweep, next.i)) break;
            const auto raised = selection_.raised(next.i, next.run);
            uint32_t may = 0;
            block::along_run([&](int c) { may |= acceptance.may_ever_accept(raised.item[c]); });
            open |= may << k;
        }
        for (; open != 0; open &= open - 1) {
            const int passed = (__ffs(open) - 1) * blockDim.x + threadIdx.x;
            const Position next = after(at, passed);
            const auto raised = selection_.raised(next.i, next.run);
            const auto words = words_of(next, place);
            for (int c = 0; c < block::RUN; ++c) {
                const int k = next.run * block::RUN + c;
                if (k >= selection_.free() || (passed == 0 && k < at.first)) continue;
                if (!acceptance.may_accept(raised.item[c], words.item[c])) continue;
                if (!acceptance.accepts(raised.item[c], words.item[c])) continue;
                const int32_t lost = selection_.chosen_place(next.i);
                const int32_t gained = selection_.free_place(k);
                if (alike_.are(lost, gained)) continue;
                return {uint32_t(passed * block::RUN + c), {raised.item[c], lost, gained}};
            }
        }
        return {};
    }

    // Return the random words of the proposals of a run.
    __device__ block::Run<uint32_t> words_of(const Position& at, const draw::Place& place) const {
        const uint32_t quads = (selection_.free() + 3) / 4;
        const uint32_t row = uint32_t(at.sweep) * selection_.chosen() + at.i;
        return words_from(row * quads + at.run * (block::RUN / 4), place);
    }

    const int64_t scale_;
    const double effort_;
    int32_t* const order_;
    int32_t* const best_order_;
    const Alike alike_;
    Selection selection_;
    const int runs_;        // per row
    const uint64_t share_;  // 2^32 / runs, rounded up
};

}  // namespace tempering
