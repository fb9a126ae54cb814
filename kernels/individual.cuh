// What every algorithm does with an individual that it has made: evaluate it and improve it.
#pragma once

#include "core/archipelago.cuh"
#include "core/marks.cuh"
#include "genes.cuh"

namespace individual {

// Returns the cost of the solution that was decoded last, from `row`. A problem that judges for
// itself may change it; `row` then stands for what it has become. `child` tells apart what is drawn
// for individuals at the same place.
template <class Decoder, class Solution>
__device__ int64_t cost_of(Decoder& decoder, Scratch scratch, const Archipelago& all,
                           const problem::Data& data, const Solution& solution, encoding::Gene* row,
                           const draw::Place& place, int child = 0) {
#ifdef PROBLEM_JUDGES
    const problem::Verdict verdict =
        problem::judge(decoder.solution(), scratch, genes::items(all.shape), data, place, child);
    if (verdict.changed) decoder.encode(row);
    return verdict.cost;
#else
    return problem::cost(solution, genes::items(all.shape), data);
#endif
}

// Returns the cost of the individual that a row stands for.
template <class Decoder>
__device__ int64_t evaluated(Decoder& decoder, Scratch scratch, const Archipelago& all,
                             const problem::Data& data, encoding::Gene* row,
                             const draw::Place& place, int child = 0) {
    return cost_of(decoder, scratch, all, data, decoder.decode(row), row, place, child);
}

// The costs of two individuals.
struct Costs {
    int64_t first, second;
};

#ifdef PROBLEM_JUDGES

// Returns the costs of the individuals that two rows stand for; the second is decoded last.
template <class Decoder>
__device__ Costs evaluated(Decoder& decoder, Scratch scratch, const Archipelago& all,
                           const problem::Data& data, encoding::Gene* first, encoding::Gene* second,
                           const draw::Place& place) {
    const int64_t cost = evaluated(decoder, scratch, all, data, first, place, 0);
    return {cost, evaluated(decoder, scratch, all, data, second, place, 1)};
}

#else

// Looks at two solutions at once, where the problem can: `costs` is looked for in its namespace.
template <class Order>
__device__ auto at_once(const Order& first, const Order& second, int n, const problem::Data& data,
                        int) -> decltype(costs(first, second, n, data)) {
    return costs(first, second, n, data);
}

template <class Order>
__device__ Costs at_once(const Order& first, const Order& second, int n, const problem::Data& data,
                         long) {
    return {problem::cost(first, n, data), problem::cost(second, n, data)};
}

// Keys are decoded in one and the same memory; other genes are solutions themselves.
__device__ constexpr bool are_keys(float) { return true; }
__device__ constexpr bool are_keys(uint32_t) { return false; }
__device__ constexpr bool are_keys(int32_t) { return false; }

// Returns the costs of the individuals that two rows stand for; the second is decoded last.
template <class Decoder>
__device__ Costs evaluated(Decoder& decoder, Scratch scratch, const Archipelago& all,
                           const problem::Data& data, encoding::Gene* first, encoding::Gene* second,
                           const draw::Place& place) {
    if constexpr (are_keys(encoding::Gene{})) {
        const int64_t cost = evaluated(decoder, scratch, all, data, first, place);
        return {cost, evaluated(decoder, scratch, all, data, second, place)};
    } else {
        const auto one = decoder.decode(first), other = decoder.decode(second);
        const auto [cost, others] = at_once(one, other, genes::items(all.shape), data, 0);
        return {cost, others};
    }
}

#endif

// Improves the individual that was decoded last, and lets `row` stand for it. Returns its cost, and
// adds to `calls` how often the objective was called.
template <class Decoder>
__device__ int64_t improve(Decoder& decoder, Scratch scratch, const Archipelago& all,
                           const problem::Data& data, const improver::Plan& plan,
                           encoding::Gene* row, int64_t cost, const draw::Place& place,
                           int64_t& calls) {
    if (improver::TAKES_LONG && improver::halts(plan)) return cost;
    const int64_t better = improver::improve(plan, scratch, decoder.solution(),
                                             genes::items(all.shape), data, cost, place, calls);
    if (better != cost) decoder.encode(row);
    return better;
}

// Shows the archive a solution that the population may not take. Nothing is to be done where all
// solutions are feasible: the best is taken there.
__device__ void offer(const Archipelago& all, int local, int slot, const encoding::Gene* row,
                      int64_t cost) {
    if (!COSTS_MARKED || !marks::is_feasible(cost)) return;
    const int64_t number = int64_t(local) * all.population + slot;
    copy_row(all.met + number * all.shape.pitch, row, all.shape.pitch);
    if (threadIdx.x == 0) all.met_cost[number] = cost;
}

}  // namespace individual
