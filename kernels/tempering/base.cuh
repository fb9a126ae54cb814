// The interface of a header in chains/, selected by TEMPERING_CHAINS. Such a header defines
//     using algorithm::Plan = algorithm::PlanOf<..., ...>;  // see plan.cuh
//     using tempering::Delta = ...;          // a cost change, an integer
//     class tempering::Chain : public tempering::BaseChain;
//     class tempering::Cross;                // crossover of two states: see order_cross.cuh
//     class tempering::Ends : public Rungs;  // see by_energies.cuh and by_climbs.cuh
//     class tempering::Price;                // see fixed_price.cuh and adapting_price.cuh
// A chain inherits the functions of BaseChain, and must define the constructor, evaluate() and
// run(). Random streams: draw() uses the one passed by the caller.
#pragma once

#include "core/costs.cuh"
#include "core/islands.cuh"
#include "core/priced.cuh"
#include "tempering/plan.cuh"

namespace tempering {

using algorithm::Plan;
using encoding::Gene;

// Special values of a replica's `mate` in the plan. Any other value is a slot of the island: the
// replica begins with a child of the individual in that slot and the best one of the ladder (its
// own individual if replicas descend). For a problem's crossover in a single ladder, it is the
// replica's slot.
constexpr int32_t NO_MATE = -1;   // continue with the current state
constexpr int32_t NEWCOMER = -2;  // begin with a random solution

// Number of moves for measuring the mean cost change, which is the unit of temperatures.
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

// Return the index of the ladder of a slot among those of all islands of the rank.
__device__ int64_t number_of_ladder(const Islands& all, const Plan& plan, int local, int slot) {
    return int64_t(local) * (all.population / plan.rungs) + slot / plan.rungs;
}

// A number per place, the same for places whose exchange never changes the cost; null if there are
// no such places.
struct Alike {
    const int32_t* places;

    __device__ bool are(int p, int q) const { return places != nullptr && places[p] == places[q]; }
};

// Return the difference of two costs, with violations at their price.
__device__ double difference(int64_t cost, int64_t other) {
    cost = priced::soft(cost), other = priced::soft(other);
    return COSTS_REAL ? real::value_of(cost) - real::value_of(other) : double(cost - other);
}

// The costs of a replica, and the number of proposals of a chain.
struct Costs {
    int64_t current, best;
    int64_t proposed;
    int64_t beyond = 0;  // evaluated proposals after the end, which acceptances bring forward
    int64_t climbs = 0;  // accepted uphill moves, if chains count them
    int64_t most = 0x7fffffffffffffff;  // maximum number of evaluations, if chains count them
};

// Default functions of a chain. They are called by all threads of a block, except those of ladders,
// which are called by one thread. A chain also has a constructor, which takes scratch memory but
// must not access it, and
//     Chain(Scratch&, Gene* state, Gene* best, const encoding::Shape&, const problem::Data&,
//           const Plan&, int64_t me);
//     // Copy a state to `best`, repaired if it may be infeasible; return its cost.
//     static int64_t evaluate(Gene* state, Gene* best, const Scratch&, const encoding::Shape&,
//                             const problem::Data&, const draw::Place&);
//     // Advance the state by a generation. It is complete and visible to all threads on entry and
//     // on return. `resumes`: whether it is the final state of this chain's previous generation.
//     Costs run(Costs, int sweeps, bool resumes, const Acceptance<Delta>&, const draw::Place&,
//               const improver::Plan&);
class BaseChain {
  public:
    // The scale of the deltas passed to Acceptance, by which its temperature is divided.
    __device__ static double scale(const Plan&) { return 1.0; }

    // Return the bytes needed by evaluate().
    template <class Data>
    __device__ static int64_t room_to_evaluate(Scratch scratch, const encoding::Shape&,
                                               const Data&) {
        return scratch.bytes();
    }

    // Draw a random state.
    __device__ static void draw(Gene* row, const encoding::Shape& shape, const draw::Place& place,
                                uint32_t stream, const Plan&) {
        encoding::fill(row, shape, place, stream);
    }

    // Return the energy of a feasible state, given its cost.
    __device__ static int64_t energy_of(int64_t cost, const Plan&) { return cost; }

    // Prepare an individual of generation 0; make() returns its chain. Return the number of
    // evaluated states.
    template <class Improving, class Make>
    __device__ static int64_t begin(const Plan&, int64_t, int64_t, const draw::Place&,
                                    const Improving&, Make) {
        return 0;
    }

    // Prepare a ladder in generation 0; `number` is its index among all ladders of the run.
    __device__ static void begin_ladder(const Plan&, int64_t, int64_t) {}

    // Renew a ladder.
    __device__ static void renew_ladder(const Plan&, int64_t) {}

    // Called if an immigrant may have replaced the state of an individual.
    __device__ static void adopt(const Islands&, const Plan&, int64_t) {}
};

}  // namespace tempering
