// What every algorithm does with an individual that it has made: evaluate it and improve it.
#pragma once

#include "core/archipelago.cuh"

namespace individual {

// Returns the cost of the individual that a row stands for.
template <class Decoder>
__device__ int64_t evaluated(Decoder& decoder, const encoding::Gene* row, int n,
                             const problem::Data& data) {
    return problem::cost(decoder.decode(row), n, data);
}

// The costs of two individuals.
struct Costs {
    int64_t first, second;
};

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
__device__ Costs evaluated(Decoder& decoder, const encoding::Gene* first,
                           const encoding::Gene* second, int n, const problem::Data& data) {
    if constexpr (are_keys(encoding::Gene{})) {
        const int64_t cost = evaluated(decoder, first, n, data);
        return {cost, evaluated(decoder, second, n, data)};
    } else {
        const auto one = decoder.decode(first), other = decoder.decode(second);
        const auto [cost, others] = at_once(one, other, n, data, 0);
        return {cost, others};
    }
}

// Improves the individual that was decoded last, and lets `row` stand for it. Returns its cost, and
// adds to `calls` how often the objective was called.
template <class Decoder>
__device__ int64_t improve(Decoder& decoder, Shelf shelf, const Archipelago& all,
                           const problem::Data& data, const improver::Plan& plan,
                           encoding::Gene* row, int64_t cost, const draw::Place& place,
                           int64_t& calls) {
    const int64_t better =
        improver::improve(plan, shelf, decoder.solution(), all.shape.n, data, cost, place, calls);
    if (better != cost) decoder.encode(row);
    return better;
}

// The same where it is due; elsewhere, nothing changes.
template <class Decoder>
__device__ int64_t improved(Decoder& decoder, Shelf shelf, const Archipelago& all,
                            const problem::Data& data, const improver::Plan& plan,
                            encoding::Gene* row, int64_t cost, const draw::Place& place,
                            int64_t& calls) {
    if constexpr (improver::ACTIVE) {
        if (improver::is_due(plan, place)) {
            return improve(decoder, shelf, all, data, plan, row, cost, place, calls);
        }
    }
    return cost;
}

}  // namespace individual
