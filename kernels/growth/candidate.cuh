// Candidate places for an item, in the order of their costs. Random numbers: those that the caller
// passes, which break ties.
#pragma once

#include "growth/plan.cuh"

namespace growth {

constexpr Number TAKEN = Number(1) << (8 * sizeof(Number) - 2);  // the cost of a place in use
constexpr int NONE = -1;

__device__ uint32_t hash(uint32_t key, uint32_t salt) {
    uint32_t word = (key + 1) * 0x9E3779B1u ^ salt;
    word = (word ^ word >> 16) * 0x85EBCA6Bu;
    word = (word ^ word >> 13) * 0xC2B2AE35u;
    return word ^ word >> 16;
}

// A candidate place for an item; ties are broken by a random number.
struct Candidate {
    Number cost = block::Least<Number>::NONE;
    uint32_t tie = 0xffffffffu;
    int place = NONE;

    __device__ bool before(const Candidate& other) const {
        return cost < other.cost || (cost == other.cost && tie < other.tie);
    }

    // Return the first of the candidates of all threads of the warp.
    __device__ Candidate first_of_warp() const {
        using Cost = block::Least<Number>;
        using Tie = block::Least<int64_t>;
        const Number least = warp::least(Cost{cost, 0}).value;
        const bool is_least = place != NONE && cost == least;
        const Tie first = warp::least(is_least ? Tie{tie, uint32_t(place)} : Tie{});
        if (first.value == Tie::NONE) return {};
        return {least, uint32_t(first.value), int(first.index)};
    }
};

}  // namespace growth
