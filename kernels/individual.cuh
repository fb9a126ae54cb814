// Evaluates and improves an individual created by a block, for every algorithm. Reads and changes
// its row; returns the cost.
// Random streams: those of the problem and the improver.
#pragma once

#include "core/costs.cuh"
#include "core/islands.cuh"
#include "core/marks.cuh"
#include "genes.cuh"

namespace individual {

// Return the cost of the solution decoded last, from `row`. A problem that defines
// PROBLEM_EVALUATES may change the solution, and `row` is then updated. `child` distinguishes the
// draws of children of the same slot.
template <class Decoder, class Solution>
__device__ int64_t cost_of(Decoder& decoder, Scratch scratch, const Islands& all,
                           const problem::Data& data, const Solution& solution, encoding::Gene* row,
                           const draw::Place& place, int child = 0) {
#ifdef PROBLEM_EVALUATES
    const problem::Evaluation evaluation =
        problem::evaluate(decoder.solution(), scratch, genes::items(all.shape), data, place, child);
    if (evaluation.changed) decoder.encode(row);
    return evaluation.cost;
#else
    return problem::cost(solution, genes::items(all.shape), data);
#endif
}

// Return the cost of the individual in a row.
template <class Decoder>
__device__ int64_t evaluate(Decoder& decoder, Scratch scratch, const Islands& all,
                            const problem::Data& data, encoding::Gene* row,
                            const draw::Place& place, int child = 0) {
    return cost_of(decoder, scratch, all, data, decoder.decode(row), row, place, child);
}

// The costs of two individuals.
struct Costs {
    int64_t first, second;
};

// Return whether to stop between two evaluations; the result of the second one would be discarded.
__device__ bool halts_between(const improver::Plan& plan) {
    return improver::LOOKS_OFTEN && improver::halts(plan);
}

#ifdef PROBLEM_EVALUATES

// Return the costs of the individuals in two rows; the second is decoded last.
template <class Decoder>
__device__ Costs evaluate(Decoder& decoder, Scratch scratch, const Islands& all,
                          const problem::Data& data, const improver::Plan& plan,
                          encoding::Gene* first, encoding::Gene* second, const draw::Place& place) {
    const int64_t cost = evaluate(decoder, scratch, all, data, first, place, 0);
    if (halts_between(plan)) return {cost, cost};
    return {cost, evaluate(decoder, scratch, all, data, second, place, 1)};
}

#else

// Evaluate two solutions at once if the problem has a function `costs`, else one after the other.
template <class Order>
__device__ auto evaluate_both(const Order& first, const Order& second, int n,
                              const problem::Data& data, const improver::Plan&, int)
    -> decltype(costs(first, second, n, data)) {
    return costs(first, second, n, data);
}

template <class Order>
__device__ Costs evaluate_both(const Order& first, const Order& second, int n,
                               const problem::Data& data, const improver::Plan& plan, long) {
    const int64_t cost = problem::cost(first, n, data);
    if (halts_between(plan)) return {cost, cost};
    return {cost, problem::cost(second, n, data)};
}

// Both rows of keys are decoded into the same memory; other genes are solutions themselves.
__device__ constexpr bool are_keys(float) { return true; }
__device__ constexpr bool are_keys(double) { return false; }
__device__ constexpr bool are_keys(uint32_t) { return false; }
__device__ constexpr bool are_keys(int32_t) { return false; }

// Return the costs of the individuals in two rows; the second is decoded last.
template <class Decoder>
__device__ Costs evaluate(Decoder& decoder, Scratch scratch, const Islands& all,
                          const problem::Data& data, const improver::Plan& plan,
                          encoding::Gene* first, encoding::Gene* second, const draw::Place& place) {
    if constexpr (are_keys(encoding::Gene{})) {
        const int64_t cost = evaluate(decoder, scratch, all, data, first, place);
        if (halts_between(plan)) return {cost, cost};
        return {cost, evaluate(decoder, scratch, all, data, second, place)};
    } else {
        const auto one = decoder.decode(first), other = decoder.decode(second);
        const auto [cost, others] =
            evaluate_both(one, other, genes::items(all.shape), data, plan, 0);
        return {cost, others};
    }
}

#endif

// Improve the individual decoded last, and update `row`. Return its cost, and add the number of
// evaluations to `calls`.
template <class Decoder>
__device__ int64_t improve(Decoder& decoder, Scratch scratch, const Islands& all,
                           const problem::Data& data, const improver::Plan& plan,
                           encoding::Gene* row, int64_t cost, const draw::Place& place,
                           int64_t& calls) {
    if ((improver::TAKES_LONG || improver::LOOKS_OFTEN) && improver::halts(plan)) return cost;
    const int n = genes::items(all.shape);
    auto* const solution = decoder.solution();
    int64_t better = improver::improve(plan, scratch, solution, n, data, cost, place, calls);
#if COSTS_REAL
    // Changes of real costs are rounded, so their sum is not exactly the cost.
    if (better != cost && !halts_between(plan)) better = problem::cost_after(solution, n, data);
#endif
    if (better != cost) decoder.encode(row);
    return better;
}

// Store a feasible solution for the archive, as the population may reject it. Not needed if all
// solutions are feasible: the archive then takes the best of the population.
__device__ void offer(const Islands& all, int local, int slot, const encoding::Gene* row,
                      int64_t cost) {
    if (!COSTS_MARKED || !marks::is_feasible(cost)) return;
    const int64_t number = int64_t(local) * all.population + slot;
    copy_row(all.offered + number * all.shape.pitch, row, all.shape.pitch);
    if (threadIdx.x == 0) all.offered_cost[number] = cost;
}

}  // namespace individual
