// The settings and arrays of the algorithm growth, as kernels read them. Items are those of the
// sparse matrix, places those of the other one. Temperatures are in units of 1 / 256. Reads
// nothing. No random numbers.
#pragma once

#include "core/islands.cuh"
#include "core/votes.cuh"
#include "core/warp.cuh"
#include "problems/qap_network.cuh"

namespace growth {

using Number = problem::Network::Number;

constexpr int MOST_NEAR = 8;  // nearest places in a list
constexpr int OFFERED = 16;   // states of a generation that may enter the population

// The places of numbers in `scales`.
enum Scale {
    LEAST,     // the smallest distance
    MEAN,      // the mean distance
    WINDOW,    // by how much a candidate may exceed the best, for each unit of flow
    SOFTNESS,  // the unit of the temperatures of a batch
    COLDEST,   // the last temperature of an annealing
};

}  // namespace growth

namespace algorithm {

struct Plan {
    problem::Network network;
    const growth::Number* flows;  // [n]: the sum of each item
    const int32_t* near;          // [n][MOST_NEAR]: the nearest places of each, nearest first
    const growth::Number* reach;  // [n]: the distance to the fourth of them
    const int64_t* scales;        // [5]: see `Scale`
    char* states;                 // [growths] of `state_bytes` for each island
    int64_t state_bytes;
    int32_t known;    // places in each list of the nearest
    int32_t growths;  // of a batch
    int32_t sweeps;   // exchanges of an annealing for each item, times the generation; 0: none
    int32_t batches;  // first generations that all grow a batch
};

}  // namespace algorithm
