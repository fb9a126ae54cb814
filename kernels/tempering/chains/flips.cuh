// Tempering of a sparse quadratic model of bits by flips. No random numbers here.
#pragma once

#include "problems/solution.cuh"
#include "tempering/plan.cuh"

namespace algorithm {

// A cost to be minimised: the sum of the coefficients of all chosen items, and of all pairs of
// chosen items. Items have places, sorted by classes of independent items: no pair within a class
// has a coefficient.
struct FlipPlan {
    const int32_t* place;     // [n]: of each item
    const int32_t* ends;      // [64]: where the places of each class end; n from the last one on
    const int32_t* first;     // [n + 1]: where the pairs of a place begin
    const int32_t* other;     // the other place of a pair
    const FLIP_NUMBER* both;  // its coefficient
    const int32_t* single;    // [n]: the coefficient of a place
    int32_t is_symmetric;     // whether a solution and its complement have the same cost
};

using Plan = PlanOf<Climbs, FlipPlan>;

}  // namespace algorithm

#include TEMPERING_PRICE

#include "tempering/by_climbs.cuh"
#include "tempering/flip_chain.cuh"
#include "tempering/flip_cross.cuh"

namespace tempering {

using Delta = FlipChain::Delta;
using Chain = FlipChain;

}  // namespace tempering
