// Declares the settings and fields of tempering. An island has ladders of `rungs` consecutive
// replicas, each at a temperature of its own. The genes of an individual are the best order that
// its replica has found; `state` is the current one. No random numbers.
#pragma once

#include "core/islands.cuh"

// Whether the deltas of replicas outlast a generation.
#ifndef TEMPERING_KEEPS
#define TEMPERING_KEEPS 0
#endif

namespace algorithm {

// How far a replica is in a generation if others evaluate its moves: see waiting_replica.cuh.
struct Progress {
    enum Phase : int32_t { DONE, FIRST, SAMPLES, RENEWED, REPRICED, MOVES };

    int64_t current, best;  // costs
    int64_t next, end;      // numbers of proposals
    int64_t climbs, evaluated;
    int64_t phase;  // what waits for evaluation
};

struct Plan {
    int32_t rungs;     // temperatures of a ladder
    int32_t sweeps;    // work of a replica per generation
    int32_t patience;  // generations without improvement before a ladder is renewed; 0: never
    int32_t renewed_from, renewed_to;  // rungs whose replicas are then renewed; see ladder.cuh
    int32_t descent;   // generations per rung of a replica that descends; 0: rungs are exchanged
    int32_t tuning;    // generations in which an island cools down; 0: temperatures are given
    double effort;     // number of sweeps as which an accepted exchange counts
    double low, high;  // temperatures of the first and last rung, or wide bounds, in units
    // While an island is tuned, all replicas cool down together. A ladder then extends over the
    // temperatures at which the mean energy exceeded the last one by these numbers of temperatures
    // per item.
    double cold_excess, hot_excess;
    const double* unit;           // the mean change of the cost by an exchange, as a temperature
    const int32_t* alike_places;  // [n]: see tempering/chain.cuh, or null
    // Of each individual: [islands][population]
    encoding::Gene* state;  // [pitch]
    int64_t* energy;        // cost of the state
    int64_t* held;  // cost of the genes, as the replica left them; others are an immigrant's
    int32_t* rung;  // 0 is the coldest
    int32_t* mate;  // the individual with which the next generation begins; see replica.cuh
    // Of each rung of each ladder: [islands][population]
    double* temperature;
    // Of each ladder: [islands][population / rungs]
    double* heat;      // [tuning]: the sum of the energies in each generation of the tuning
    int64_t* records;  // [2]: the best cost, and the generation that found it or renewed the ladder
    // Of each individual, for many items only, otherwise null: the deltas of its state, and the
    // generation that they belong to. They may be missing.
    char* deltas;  // [deltas_bytes]
    int64_t deltas_bytes;
    int64_t* deltas_of;
#ifdef TEMPERING_SHARES
    // Chains that count what they accept: see move_chain.cuh and core_chain.cuh.
    double cold_share, hot_share;  // accepted climbs of a proposal at the ends of the temperatures
    int32_t cycle;    // generations of the first annealing, each next one twice as many; 0: ladders
    int64_t* climbs;  // accepted climbs of a generation, of each individual
    int64_t* proposals;  // of a generation, of each individual
    double* shares;      // [tuning] of each ladder: accepted climbs of a proposal
    double* range;       // [2] of each ladder: the coldest and the hottest temperature
#endif
#ifdef TEMPERING_TRIES
    double* roughness;   // mean change of the cost by moves of the first order, of each individual
    Progress* progress;  // of each individual, or null if kernels evaluate
#ifdef TEMPERING_ADAPTS
    double* price;  // of each ladder: the factor of the price of violations
#endif
#endif
#ifdef TEMPERING_PAIRS
    // The core of a knapsack: see core.cuh and islands/problems/core.py.
    const uint32_t* packed;   // [n][PAIRS]: the weights of an item, two constraints a word
    const int32_t* gains;     // [n]: scaled profits
    const int32_t* rows;      // [2 * PAIRS]: the constraint of each half of a word, or -1
    const int32_t* shifts;    // [2 * PAIRS]: bits that its weights lack
    const int32_t* core;      // [largest]: items by the size of their reduced cost
    const uint32_t* rounded;  // [pitch]: the items with positive reduced profit
    const float* levels;      // random logarithms: see core_chain.cuh
    // Of each variant, of which a ladder takes the next when it is renewed
    const int32_t* sizes;               // items of the core
    const uint32_t* prices;             // [(PAIRS + 1) / 2]: of overloads, as negative bytes
    const int32_t* slops;               // price of overloads up to which a subset may be feasible
    int32_t variants, largest, places;  // the largest core, and the most free items
    const double* scale;                // [1]: of energies to profits
    int64_t* variant;                   // of each ladder
#endif
#ifdef TEMPERING_WEIGHT
    // The problem as a choice: see selection.cuh.
    const TEMPERING_WEIGHT* weights;  // [n][n]
    const TEMPERING_FIELD* alone;     // [n]
    int64_t scale;                    // of their numbers
    const uint16_t* symmetries;       // [n][symmetry_count]: see subset_cross.cuh
    int32_t symmetry_count;           // a multiple of 16
    int32_t chosen;                   // number of chosen places
#endif
};

}  // namespace algorithm
