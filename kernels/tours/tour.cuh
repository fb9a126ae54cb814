// A tour for local search: the city at each position and the position of each city. Reads both;
// warps write them. No random numbers.
#pragma once

#include "core/core.cuh"
#include "core/warp.cuh"
#include "tours/neighbours.cuh"

namespace tours {

// Consecutive positions of a tour, which may wrap around.
struct Interval {
    int first, length;
};

template <class Position>
struct Tour {
    int32_t* order;
    Position* position;
    int n;
    const problem::Data& data;

    // Wrap a position from -n to 2 n - 1 around the tour.
    __device__ int wrapped(int place) const {
        return place >= n ? place - n : place < 0 ? place + n : place;
    }
    __device__ int city(int place) const { return order[wrapped(place)]; }
    __device__ problem::City where(int city) const { return problem::city(data, n, city); }
    __device__ int64_t length(problem::City a, problem::City b) const {
        return problem::distance(data, n, a, b);
    }

    __device__ void put(int place, int city) const {
        order[place] = city;
        position[city] = Position(place);
    }

    // Reverse an interval. Called by one warp.
    __device__ void reverse(Interval part) const {
        for (int i = warp::lane(); i < part.length / 2; i += warp::SIZE) {
            const int low = wrapped(part.first + i);
            const int high = wrapped(part.first + part.length - 1 - i);
            const int one = order[low], other = order[high];
            put(low, other);
            put(high, one);
        }
        warp::sync();
    }

    // Compute the positions, using all threads of a block.
    __device__ void locate() const {
        for (int i = threadIdx.x; i < n; i += blockDim.x) position[order[i]] = Position(i);
        __syncthreads();
    }
};

}  // namespace tours
