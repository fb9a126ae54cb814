// Stored cost changes due to the exchange of each pair of items, for sparse flows. The field of an
// item contains the cost of its flows at each place. It changes only if a neighbour moves, so an
// exchange changes the rows of two items and of their neighbours, not all pairs. Reads the network
// of the plan and the order. Only in programs for CPUs. No random numbers.
#pragma once

#include "improvers/swap_deltas.cuh"
#include "tempering/plan.cuh"
#include "tempering/stored_run.cuh"

namespace tempering {

class NetworkDeltas {
  public:
    using Delta = problem::SwapDeltas::Delta;

    NetworkDeltas(Scratch& scratch, const int32_t* order, int n, const problem::Data&,
                  const algorithm::PairPlan& plan, int64_t, const block::Triangle& triangle)
        : network_(plan.network),
          n_(n),
          triangle_(triangle),
          delta_(scratch.take<Delta>(triangle.entries())),
          row_(scratch.take<Delta>(n)),
          gap_(scratch.take<Number>(n)),
          field_(scratch.take<Number>(int64_t(n) * network_.pitch)),
          same_(scratch.take<int32_t>(n)),
          inverse_(network_.turned ? scratch.take<int32_t>(n) : nullptr),
          order_(order),
          item_(network_.turned ? order : same_),
          place_(network_.turned ? same_ : order),
          place_of_(network_.turned ? inverse_ : order),
          entry_of_(network_.turned ? inverse_ : same_) {}

    // Nothing is kept between generations.
    static void forget(const algorithm::PairPlan&, int64_t) {}
    void end(int64_t) const {}

    // See stored_deltas.cuh for the following functions.
    void begin(bool, int64_t) {
        for (int i = 0; i < n_; ++i) same_[i] = i;
        for (int i = 0; network_.turned && i < n_; ++i) inverse_[order_[i]] = i;
        for (int e = 0; e < n_ * network_.pitch; ++e) field_[e] = 0;
        for (int u = 0; u < n_; ++u) {
            each_flow(u, [&](int other, Number flow) {
                const Number* const from = network_.from(place_of_[other]);
                Number* const mine = field(u);
                for (int p = 0; p < n_; ++p) mine[p] += flow * from[p];
            });
        }
        for (int e = 0; e < triangle_.entries(); ++e) delta_[e] = FAR;
        for (int i = 0; i < triangle_.rows(); ++i) {
            compute_row(i);
            const int later = triangle_.first(i);
            for (int j = later; j < n_; ++j) delta_[triangle_.at(i, j)] = row_[j];
        }
    }

    template <class Words, class Pairs, class Differs>
    block::Bid<Delta> first_accepted(int run, block::Triangle::Place, Words words, Pairs pairs,
                                     const Acceptance<Delta>& acceptance, Differs differs) const {
        const auto& deltas = reinterpret_cast<const block::Run<Delta>*>(delta_)[run];
        return first_of_run<Delta>(deltas, words, pairs, acceptance, differs);
    }

    void announce(moves::Swap swap, Delta) {
        if (!network_.turned) return;
        inverse_[order_[swap.u]] = swap.v;
        inverse_[order_[swap.v]] = swap.u;
    }

    void follow(moves::Swap swap) {
        const int r = swap.u, s = swap.v, one = item_[r], two = item_[s];
        const Number *const here = network_.from(place_[r]), *const there =
                                                                 network_.from(place_[s]);
        for (int j = 0; j < n_; ++j) gap_[j] = here[place_[j]] - there[place_[j]];
        each_flow(one, [&](int other, Number flow) { follow(other, flow, here, there, two); });
        each_flow(two, [&](int other, Number flow) { follow(other, -flow, here, there, one); });
        for (const int i : {r, s}) {
            compute_row(i);
            triangle_.each_pair(delta_, i, [&](int j, Delta) { return row_[j]; });
        }
    }

  private:
    using Number = problem::Network::Number;
    // The delta of entries that are not pairs: above all others, and never accepted.
    static constexpr Delta FAR = Delta(1) << (8 * sizeof(Delta) - 2);

    Number* field(int item) const { return field_ + int64_t(item) * network_.pitch; }

    // Call body(other, flow) for each neighbour of an item.
    template <class Body>
    void each_flow(int item, Body body) const {
        for (int e = network_.first[item]; e < network_.first[item + 1]; ++e) {
            body(network_.neighbour[e], network_.flow[e]);
        }
    }

    // Update the field and the deltas of an item that has a flow to one of the two exchanged items.
    // The deltas of the other exchanged item are computed anew instead.
    void follow(int item, Number flow, const Number* here, const Number* there, int exchanged) {
        Number* const mine = field(item);
        for (int p = 0; p < n_; ++p) mine[p] += flow * (here[p] - there[p]);
        if (item == exchanged) return;
        const int i = entry_of_[item];
        const Number* const gap = gap_;
        const Number own = gap[i];
        triangle_.each_pair(delta_, i,
                            [=](int j, Delta delta) { return delta + flow * (gap[j] - own); });
    }

    // Compute the deltas of an entry with all others.
    void compute_row(int i) {
        const int u = item_[i], p = place_[i], pitch = network_.pitch;
        const Number *const all = field_, *const mine = field(u), at_home = mine[p];
        const int32_t *const items = item_, *const places = place_;
        Delta* const row = row_;
#pragma GCC ivdep
        for (int j = 0; j < n_; ++j) {
            const int theirs = items[j] * pitch, q = places[j];
            row[j] = (mine[q] - at_home) + (all[theirs + p] - all[theirs + q]);
        }
        // The cost of a flow between the two exchanged items does not change.
        const Number* const from = network_.from(p);
        each_flow(u, [&](int other, Number flow) {
            const int q = place_of_[other];
            row[entry_of_[other]] -= flow * (from[p] + network_.from(q)[q] - 2 * from[q]);
        });
    }

    const problem::Network& network_;
    const int n_;
    const block::Triangle& triangle_;
    Delta *const delta_, *const row_;  // row_: see compute_row()
    Number* const gap_;                // per entry: difference of its distances to both places
    Number* const field_;              // [item][place]
    int32_t *const same_, *const inverse_;
    const int32_t* const order_;
    // For each entry of the order: its item in the network and its place; then their inverses.
    const int32_t *const item_, *const place_, *const place_of_, *const entry_of_;
};

}  // namespace tempering
