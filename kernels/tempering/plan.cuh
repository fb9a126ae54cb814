// Declares the settings and fields of tempering. An island has ladders of `rungs` consecutive
// replicas, each at a temperature of its own. The genes of an individual are the best solution that
// its replica has found; `state` is the current one. No random numbers.
#pragma once

#include "core/islands.cuh"

namespace algorithm {

// Of ladders whose ends are set from mean energies: see by_energies.cuh. While an island is tuned,
// all replicas cool down together. A ladder then extends over the temperatures at which the mean
// energy exceeded the last one by these numbers of temperatures per item.
struct Energies {
    double cold_excess, hot_excess;
    double* heat;  // [tuning] of each ladder: the sum of the energies in each generation
};

// Of ladders whose ends are set from accepted climbs: see by_climbs.cuh.
struct Climbs {
    double cold_share, hot_share;  // accepted climbs of a proposal at the ends of the temperatures
    int32_t cycle;    // generations of the first annealing, each next one twice as many; 0: ladders
    int64_t* climbs;  // accepted climbs of a generation, of each individual
    int64_t* proposals;  // of a generation, of each individual
    double* shares;      // [tuning] of each ladder: accepted climbs of a proposal
    double* range;       // [2] of each ladder: the coldest and the hottest temperature
};

// The header of the chains defines their own members, and `Plan` as a PlanOf them.
template <class Ends, class Chain>
struct PlanOf {
    int32_t rungs;     // temperatures of a ladder
    int32_t sweeps;    // work of a replica per generation
    int32_t patience;  // generations without improvement before a ladder is renewed; 0: never
    int32_t renewed_from, renewed_to;  // rungs whose replicas are then renewed; see ladder.cuh
    int32_t descent;   // generations per rung of a replica that descends; 0: rungs are exchanged
    int32_t tuning;    // generations in which an island cools down; 0: temperatures are given
    double effort;     // work as which an accepted proposal counts
    double low, high;  // temperatures of the first and last rung, or wide bounds, in units
    // The unit of temperatures, the mean change of the cost by a proposal; null: the mean of what
    // each individual has measured.
    const double* unit;
    double* roughness;  // of each individual, or null
    // Of each individual: [islands][population]
    encoding::Gene* state;  // [pitch]
    int64_t* energy;        // cost of the state
    int64_t* held;  // cost of the genes, as the replica left them; others are an immigrant's
    int32_t* rung;  // 0 is the coldest
    int32_t* mate;  // the individual with which the next generation begins; see replica.cuh
    // Of each rung of each ladder: [islands][population]
    double* temperature;
    // Of each ladder: [islands][population / rungs]
    int64_t* records;  // [2]: the best cost, and the generation that found it or renewed the ladder
    Ends ends;
    Chain chain;
};

}  // namespace algorithm
