// Tempering of a problem that chooses some of n places. No random numbers here.
#pragma once

#include "tempering/plan.cuh"

namespace algorithm {

// The problem as a choice: see selection.cuh. The narrowest types are used to save memory.
struct PlacePlan {
    const int32_t* alike_places;      // [n]: see `Alike`, or null
    const TEMPERING_WEIGHT* weights;  // [n][n]
    const TEMPERING_FIELD* alone;     // [n]
    int64_t scale;                    // unit of these numbers
    const uint16_t* symmetries;       // [n][symmetry_count]: see place_cross.cuh
    int32_t symmetry_count;           // a multiple of 16
    int32_t chosen;                   // number of chosen places
};

using Plan = PlanOf<Energies, PlacePlan>;

}  // namespace algorithm

#include "tempering/by_energies.cuh"
#include "tempering/fixed_price.cuh"
#include "tempering/place_chain.cuh"
#include "tempering/place_cross.cuh"
