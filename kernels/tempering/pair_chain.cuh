// The Markov chain of a replica: proposes the exchange of each pair of items in turn, and accepts
// it by the Metropolis rule. The threads of a block evaluate many proposals at once and apply the
// first accepted one, so the chain does not depend on the number of threads. Reads the problem's
// data; changes the order, and keeps the best one. `Deltas` returns the cost change of a proposal:
// see stored_deltas.cuh and sparse_deltas.cuh. Random streams: PROPOSALS, BEGIN.
#pragma once

#include "improvers/base.cuh"
#include "improvers/swap_deltas.cuh"
#include "tempering/acceptance.cuh"
#include "tempering/sweeps.cuh"

namespace tempering {

template <class Deltas>
class PairChain : public SweepingChain {
  public:
    using Delta = typename Deltas::Delta;

    __device__ PairChain(Scratch& scratch, int32_t* order, int32_t* best_order,
                         const encoding::Shape& shape, const problem::Data& data,
                         const algorithm::Plan& plan, int64_t me)
        : n_(shape.n),
          effort_(plan.effort),
          plan_(plan.chain),
          order_(order),
          best_order_(best_order),
          triangle_(scratch, shape.n, problem::SwapDeltas::after(data)),
          deltas_(scratch, order, shape.n, data, plan.chain, me, triangle_) {}

    template <class Improving, class Make>
    __device__ static int64_t begin(const algorithm::Plan& plan, int64_t me, int64_t,
                                    const draw::Place&, const Improving&, Make) {
        if (threadIdx.x == 0) Deltas::forget(plan.chain, me);
        return 0;
    }

    __device__ static void adopt(const Islands& all, const algorithm::Plan& plan, int64_t me) {
        if (all.changed[me]) Deltas::forget(plan.chain, me);
    }

    // Do as much work as the given sweeps take without acceptances, from a random row of pairs.
    __device__ Costs run(Costs costs, int sweeps, bool resumes, const Acceptance<Delta>& acceptance,
                         const draw::Place& place, const improver::Plan& improving) {
        costs.proposed = 0;
        const int rows_per_sweep = triangle_.rows();
        if (rows_per_sweep < 1) return costs;
        triangle_.begin();
        __syncthreads();
        deltas_.begin(resumes, place.generation);
        const int row = draw::below(place.words(stream::BEGIN, 0).x, rows_per_sweep);
        const int first = triangle_.first(row);
        Rows rows(row, sweeps, rows_per_sweep, effort_);
        Position at{triangle_.at(row, first) / block::RUN, 0, first};
        for (int turn = 0;; turn ^= 1) {
            if (POLLING_IS_CHEAP && improver::halts(improving)) break;
            const auto found = block::lowest(first_accepted(at, rows, acceptance, place), turn);
            const int runs = triangle_.runs();
            if (found.key == found.NONE) {
                at.item = 0;
                at.run += ahead();
                while (at.run >= runs) at.run -= runs, ++at.sweep;
                if (rows.have(at.sweep, triangle_.place(at.run).i)) continue;
                break;
            }
            at.run += found.key / block::RUN;
            while (at.run >= runs) at.run -= runs, ++at.sweep;
            const auto [i, begin] = triangle_.place(at.run);
            const int j = begin + found.key % block::RUN;
            costs.current += found.value;
            const bool is_best = costs.current < costs.best;
            if (is_best) costs.best = costs.current;
            exchange({i, j}, found.value, is_best);
            rows.exchanged(at.sweep, i);
            at.item = j + 1;
        }
        costs.proposed = rows.end() / rows_per_sweep * triangle_.pairs() +
                         triangle_.pairs_before(rows.end() % rows_per_sweep) -
                         triangle_.pairs_before(row);
        deltas_.end(place.generation);
        return costs;
    }

  private:
    // The next proposal: a run of the row, with items from `item`.
    struct Position {
        int run, sweep, item;
    };
    using Bid = block::Bid<Delta>;

    // Number of runs that all threads together evaluate before an exchange is selected.
    __device__ static int ahead() { return POLLING_IS_CHEAP ? 256 : int(blockDim.x); }

    // Return the first accepted exchange that this thread finds in the rows: its distance from
    // `at`, in entries of runs, and its delta.
    __device__ Bid first_accepted(const Position& at, const Rows& rows,
                                  const Acceptance<Delta>& acceptance,
                                  const draw::Place& place) const {
        const int runs = triangle_.runs();
        for (int k = threadIdx.x; k < ahead(); k += blockDim.x) {
            int run = at.run + k, sweep = at.sweep;
            while (run >= runs) run -= runs, ++sweep;
            const block::Triangle::Place first = triangle_.place(run);
            if (!rows.have(sweep, first.i)) break;
            const auto words = [&] { return words_of(sweep, first.i, first.j, place); };
            const auto pairs = [&] { return pairs_of(first.i, first.j, k > 0 ? 0 : at.item); };
            const auto differs = [&](int c) {
                return !Alike{plan_.alike_places}.are(order_[first.i], order_[first.j + c]);
            };
            const auto found =
                deltas_.first_accepted(run, first, words, pairs, acceptance, differs);
            if (found.key != found.NONE) {
                return {uint32_t(k * block::RUN) + found.key, found.value};
            }
        }
        return {};
    }

    // Return the entries of a run that are pairs of item i with items from `least`, as bits. Almost
    // every warp also has entries that are not pairs, whose stored deltas are undefined.
    __device__ uint32_t pairs_of(int i, int first, int least) const {
        const int begin = max(0, max(triangle_.first(i), least) - first);
        const int end = min(block::RUN, n_ - first);
        return begin < end ? (2u << (end - 1)) - (1u << begin) : 0u;
    }

    // Return the random words of the proposals of a run.
    __device__ block::Run<uint32_t> words_of(int sweep, int i, int first,
                                             const draw::Place& place) const {
        const uint32_t quads = (n_ + 3) / 4;
        return words_from((uint32_t(sweep) * n_ + i) * quads + first / 4, place);
    }

    __device__ void exchange(moves::Swap swap, Delta by, bool is_best) {
        const int32_t p = order_[swap.u], q = order_[swap.v];
        deltas_.announce(swap, by);
        __syncthreads();
        if (threadIdx.x == 0) order_[swap.u] = q, order_[swap.v] = p;
        for (int i = block::from_last(); is_best && i < n_; i += blockDim.x) {
            best_order_[i] = i == swap.u ? q : i == swap.v ? p : order_[i];
        }
        deltas_.follow(swap);
        __syncthreads();
    }

    const int n_;
    const double effort_;
    const algorithm::PairPlan& plan_;
    int32_t* const order_;
    int32_t* const best_order_;
    block::Triangle triangle_;
    Deltas deltas_;
};

}  // namespace tempering
