// The settings and arrays of growth on the device. Items are the indices of the sparse matrix,
// places the indices of the other one. Temperatures are in units of 1 / 256. No random numbers.
#pragma once

#include "core/islands.cuh"
#include "core/votes.cuh"
#include "core/warp.cuh"
#include "problems/qap_network.cuh"

namespace growth {

using Number = problem::Network::Number;

constexpr int MOST_NEAR = 8;      // maximum number of near places in a list
constexpr int OFFERED = 16;       // states per generation that may enter the population
constexpr int MOST_CHILDREN = 4;  // maximum number of children of a growth in a beam search

// Indices into `scales`.
enum Scale {
    LEAST,     // the smallest distance
    MEAN,      // the mean distance
    WINDOW,    // maximum excess of a candidate over the best, per unit of flow
    SOFTNESS,  // the unit of the temperatures of a batch
    COLDEST,   // the final annealing temperature
};

// Allocates the arrays of a state, which have the same length, from its memory.
class Memory {
  public:
    __device__ Memory(char* memory, int length) : next_(memory), length_(length) {}

    template <class T>
    __device__ T* take() {
        T* const array = reinterpret_cast<T*>(next_);
        next_ += length_ * sizeof(T);
        return array;
    }

  private:
    char* next_;
    const int length_;
};

}  // namespace growth

namespace algorithm {

struct Plan {
    problem::Network network;
    problem::Network pattern;     // of the same items: equal flows, steep distances
    const growth::Number* flows;  // [n]: sum of the flows of each item
    const int32_t* near;          // [n][MOST_NEAR]: places near each place, nearest first
    const growth::Number* reach;  // [n]: distance to the fourth of these places
    const int64_t* scales;        // [5]: see `Scale`
    char* states;                 // [growths + OFFERED] of `state_bytes` per island
    int64_t state_bytes;
    int32_t known;        // number of near places in each list
    int32_t growths;      // per batch
    int32_t sweeps;       // annealing exchanges per item, times the generation; 0: none
    int32_t batches;      // initial generations that all grow a batch
    int32_t has_pattern;  // whether the second half of the slots is selected by pattern costs
};

}  // namespace algorithm
