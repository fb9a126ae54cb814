// The lengths of legs between cities for problems/tsp.cuh, for tours that are directed, open, or
// have fixed edges: islands/problems/legs.py creates the matrix. Negative entries forbid a leg or
// join two cities, with a price that outweighs all lengths. With ENCODING_DOUBLED, tours visit two
// joined nodes per city, its entry and its exit. Only numbers 2 k and 2 k + 1 are joined, and a
// tour without a leg between them includes the price once. Reads the matrix; returns lengths.
// No random numbers.
#pragma once

#include "core/core.cuh"

#ifndef ENCODING_DOUBLED
#define ENCODING_DOUBLED 0
#endif

namespace problem {

// The price of a forbidden leg exceeds the length of any valid tour: 20,000 legs of at most 2^31.
// The price of a join exceeds that of two forbidden legs, so a move that breaks a join never
// improves a tour, even if the other two legs that it removes are forbidden.
constexpr int64_t FORBIDDEN = int64_t(1) << 46, JOINED = int64_t(1) << 48;

struct Data {
    const int32_t* distance;  // -1: forbidden, -2: joined
};

struct City {
    int index;
};

__device__ City city(const Data&, int, int index) { return {index}; }

__device__ int64_t distance(const Data& data, int n, City a, City b) {
#if ENCODING_DOUBLED
    if (((a.index ^ b.index) & 1) == 0) return FORBIDDEN;
    const int from = (a.index & 1 ? a.index : b.index) / 2;  // odd numbers are exits
    const int to = (a.index & 1 ? b.index : a.index) / 2;
    if (from == to) return -JOINED;
    const int32_t length = data.distance[int64_t(from) * (n / 2) + to];
#else
    const int32_t length = data.distance[int64_t(a.index) * n + b.index];
#endif
    return length >= 0 ? length : length == -1 ? FORBIDDEN : -JOINED;
}

// Return whether a city is joined to the other city of its pair of numbers, `city ^ 1`.
__device__ bool is_joined(const Data& data, int n, int city) {
    return (city ^ 1) < n && distance(data, n, {city}, {city ^ 1}) < 0;
}

// Return half the price of the join of a city, which is added to the length of a tour, so that a
// tour with all joins has its actual length.
__device__ int64_t price_of_join(const Data& data, int n, int city) {
    return is_joined(data, n, city) ? JOINED / 2 : 0;
}

}  // namespace problem
