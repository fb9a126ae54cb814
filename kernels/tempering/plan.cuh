// Declares the settings and arrays of tempering. An island has ladders of `rungs` consecutive
// replicas, each at its own temperature. The genes of an individual are the best solution of its
// replica; `state` is the current one. No random numbers.
#pragma once

#include "core/islands.cuh"

namespace algorithm {

// For ladders whose ends are set from mean energies: see by_energies.cuh. While an island is tuned,
// all replicas cool down together. A ladder then covers the temperatures at which the mean energy
// per item exceeded the last one by these multiples of the temperature.
struct Energies {
    double cold_excess, hot_excess;
    double* heat;  // [tuning] per ladder: the sum of the energies in each generation
};

// For ladders whose ends are set from uphill moves: see by_climbs.cuh.
struct Climbs {
    double cold_share, hot_share;  // accepted uphill moves per proposal at the ends of the ladder
    int32_t cycle;       // generations of the first annealing; 0: ladders are used instead
    int32_t reheating;   // generations of later ones, started from children; 0: doubled each time
    int64_t* climbs;     // per individual: accepted uphill moves of a generation
    int64_t* proposals;  // per individual: proposals of a generation
    double* shares;      // [tuning] per ladder: accepted uphill moves per proposal
    double* range;       // [2] per ladder: the coldest and the hottest temperature
};

// A header in chains/ defines a struct of its own members, and `Plan` as a PlanOf with this struct.
template <class Ends, class Chain>
struct PlanOf {
    int32_t rungs;     // temperatures per ladder
    int32_t sweeps;    // work of a replica per generation
    int32_t patience;  // generations without improvement before a ladder is renewed; 0: never
    int32_t renewed_from, renewed_to;  // rungs whose replicas are then renewed; see ladder.cuh
    int32_t descent;   // generations per rung of a descending replica; 0: rungs are exchanged
    int32_t tuning;    // generations in which an island cools down; 0: temperatures are given
    double effort;     // the work counted for an accepted proposal
    double low, high;  // first and last temperature, or wide bounds for tuning, in units of `unit`
    // The unit of temperatures, the mean cost change of a proposal; null for the mean of
    // `roughness`.
    const double* unit;
    double* roughness;  // per individual: its measured mean cost change; or null
    // Per individual: [islands][population]
    encoding::Gene* state;  // [pitch]
    int64_t* energy;        // cost of the state
    int64_t* held;          // cost of the genes as the replica left them; an immigrant's differs
    int32_t* rung;          // 0 is the coldest
    int32_t* mate;          // how the next generation starts; see NO_MATE in base.cuh
    // Per rung of each ladder: [islands][population]
    double* temperature;
    // Per ladder: [islands][population / rungs]
    int64_t* records;  // [2]: the best cost, and the generation that found it or renewed the ladder
    Ends ends;
    Chain chain;
};

}  // namespace algorithm
