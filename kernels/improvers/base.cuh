// What all improvers have in common: their settings, and whose turn it is.
#pragma once

#include "core/core.cuh"

namespace improver {

struct Plan {
    uint32_t rate;  // an individual whose word is below it is improved; the largest number: always
    int32_t every;  // generations from one with improvements to the next; 0 means never
    int32_t steps;  // that are taken at most
    int32_t best;   // whether the best move is taken, and not the first that improves
    int32_t one_position;  // whether only moves of one position, drawn an island, are tried
    int32_t tenure_low, tenure_high;  // how long a move is tabu
    int32_t aspiration;               // a move is free after so many steps; 0 means never
    int32_t core;                     // of a subset: how many things may change; 0 means all
};

constexpr uint32_t ALWAYS = 0xffffffffu;

__device__ Plan never() { return {}; }

__device__ bool is_due(const Plan& plan, const draw::Place& place) {
    if (plan.every == 0 || place.generation % plan.every != 0) return false;
    return plan.rate == ALWAYS || place.words(stream::IMPROVE, 0).x < plan.rate;
}

}  // namespace improver
