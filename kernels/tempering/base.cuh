// How a replica begins a generation, and what its Markov chain takes and returns. A header of a
// chain defines
//     using Delta = ...;  // the change of a cost, an integer
//     class Chain {
//         Chain(Scratch&, Gene* order, Gene* best_order, const encoding::Shape&,
//               const problem::Data&, const algorithm::Plan&, int64_t me);
//         // The factor of the deltas that Acceptance sees, by which its temperature is divided.
//         static double scale(const algorithm::Plan&);
//         Costs run(Costs, int sweeps, bool are_kept, const Acceptance<Delta>&, const Alike&,
//                   const draw::Place&, const improver::Plan&);
//     };
// No random numbers here.
#pragma once

#include "core/costs.cuh"
#include "core/islands.cuh"
#include "core/priced.cuh"
#include "tempering/plan.cuh"

namespace tempering {

// Values of `mate`. Otherwise, a replica begins with a child of the best order of its ladder, or of
// its own if replicas descend, and that of another individual of the island, or, by a crossover of
// the problem in a ladder that is alone, its own.
constexpr int32_t NO_MATE = -1;   // continue with the current state
constexpr int32_t NEWCOMER = -2;  // begin with a random order

// Number of moves that tell the mean change of the cost, the unit of temperatures.
constexpr int ROUGHNESS_SAMPLES = 32;

// Return the best individual of the ladder of a slot in the previous generation.
__device__ int best_of_ladder(const Islands& all, int rungs, int local, int slot) {
    const int32_t first = all.row(all.island[local].generation, local, 0);
    const int ladder = slot / rungs * rungs;
    int best = ladder;
    for (int i = ladder + 1; i < ladder + rungs; ++i) {
        if (all.cost[first + i] < all.cost[first + best]) best = i;
    }
    return best;
}

// The first factor of a price of violations that adapts. Other algorithms take the whole price, as
// they need it only until they find a feasible solution.
constexpr double FIRST_FACTOR = 1.0 / 16;

// Return the number of the ladder of a slot, among those of all islands of the rank.
__device__ int64_t number_of_ladder(const Islands& all, const algorithm::Plan& plan, int local,
                                    int slot) {
    return int64_t(local) * (all.population / plan.rungs) + slot / plan.rungs;
}

// Places whose exchange never changes the cost have equal numbers. Null: there are none.
struct Alike {
    const int32_t* places;

    __device__ bool are(int p, int q) const { return places != nullptr && places[p] == places[q]; }
};

// Return by how much one cost is above another, with violations at their price.
__device__ double above(int64_t cost, int64_t other) {
    cost = priced::soft(cost), other = priced::soft(other);
    return COSTS_REAL ? real::value_of(cost) - real::value_of(other) : double(cost - other);
}

// The costs of a replica, and the number of proposals of a chain.
struct Costs {
    int64_t current, best;
    int64_t proposed;
    int64_t climbs = 0;  // accepted proposals that raised the cost, where chains count them
};

// The rows of pairs that a chain processes in a generation. An accepted exchange takes as long as
// some rows, and counts as some, as all replicas of a generation wait for the last one. So a
// generation ends more often in states that accept many exchanges than Boltzmann's distribution
// says; it ends like this distribution if an exchange counts nothing.
class Rows {
  public:
    // `per_exchange`: the share of a sweep as which an exchange counts.
    __device__ Rows(int first, int sweeps, int rows_a_sweep, double per_exchange)
        : a_sweep_(rows_a_sweep),
          an_exchange_(int(per_exchange * rows_a_sweep + 0.5)),
          end_(first + int(min(int64_t(sweeps) * rows_a_sweep, MOST))) {}

    // Whether row i of a sweep belongs to them.
    __device__ bool have(int sweep, int i) const { return sweep * a_sweep_ + i < end_; }

    // An exchange in row i of a sweep was accepted. The row remains whole.
    __device__ void exchanged(int sweep, int i) {
        end_ = max(sweep * a_sweep_ + i + 1, end_ - an_exchange_);
    }

    __device__ int end() const { return end_; }

  private:
    static constexpr int64_t MOST = 1 << 30;  // so that row numbers fit

    const int a_sweep_, an_exchange_;
    int end_;
};

#ifndef TEMPERING_PAIRS
// Draw a random row.
__device__ void fill(encoding::Gene* row, const encoding::Shape& shape, const draw::Place& place,
                     uint32_t stream, const algorithm::Plan&) {
    encoding::fill(row, shape, place, stream);
}

// Return the energy of a state with a cost.
__device__ int64_t energy_of(int64_t cost, const algorithm::Plan&) { return cost; }
#endif

}  // namespace tempering
