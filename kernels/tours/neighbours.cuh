// The neighbours of each city: a table shared by all islands, and the data from which a kernel
// fills it (tours/find_neighbours.cuh). Reads the table. No random numbers.
#pragma once

#include "core/core.cuh"

struct Neighbours {
    int32_t degree;         // neighbours per city
    int32_t levels;         // of the k-d tree, whose nodes split the cities into halves
    const int32_t* cities;  // [n]: the cities, sorted so that near ones are close to each other
    const int32_t* axis;    // [2^levels]: the coordinate by which a node splits, numbered from 1
    const double* split;    // [2^levels]: the first coordinate of its upper half
    const int32_t* twins;   // [2][n]: the previous and next city with the same coordinates, or -1
    int32_t* table;         // [n][degree]: neighbours of each city, nearest first

    __device__ const int32_t* of(int city) const { return table + int64_t(city) * degree; }
};
