// Constructs a tour by nearest neighbour, with randomised lengths so that tours differ. If all
// neighbours of a city have been visited, the next city is the nearest of the unvisited ones close
// to it in the order of all cities. One thread constructs the tour. Reads the problem and the
// neighbours; writes a tour. No random numbers of its own.
#pragma once

#include "improvers/base.cuh"
#include "tours/neighbours.cuh"
#include "tours/random_lengths.cuh"

namespace tours {

class Nearest {
  public:
    static constexpr int ARRAYS = 3;  // of n entries each, one pitch apart

    __device__ Nearest(const RandomLengths& lengths, const Neighbours& near, int32_t* memory,
                       int64_t pitch)
        : lengths_(lengths),
          near_(near),
          is_visited_(memory),
          before_(memory + pitch),
          after_(memory + 2 * pitch) {}

    // Write a tour to `order`, using all threads; return false if a stop was requested.
    __device__ bool run(const improver::Plan& plan, int32_t* order) {
        const int n = lengths_.n;
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            const int city = near_.cities[i];
            is_visited_[city] = 0;
            before_[city] = i > 0 ? near_.cities[i - 1] : -1;
            after_[city] = i < n - 1 ? near_.cities[i + 1] : -1;
        }
        __syncthreads();
        const bool is_stopped = threadIdx.x == 0 && !walk(plan, order);
        return !block::any(is_stopped);
    }

  private:
    static constexpr int REACH = 25;  // unvisited cities tried on each side in the order of cities
    static constexpr int POLLED = 4096;

    __device__ bool walk(const improver::Plan& plan, int32_t* order) {
        int city = draw::below(lengths_.key.w, lengths_.n);
        for (int i = 0; i < lengths_.n; ++i) {
            if (POLLING_IS_CHEAP && i % POLLED == 0 && improver::halts(plan)) return false;
            order[i] = city;
            leave(city);
            city = next(city);
        }
        return true;
    }

    // Unlink a city from the unvisited ones; it keeps its own links.
    __device__ void leave(int city) {
        is_visited_[city] = 1;
        if (before_[city] >= 0) after_[before_[city]] = after_[city];
        if (after_[city] >= 0) before_[after_[city]] = before_[city];
    }

    // Return the city to visit after one that has just been left, or -1.
    __device__ int next(int city) const {
        Candidate best{0, -1};
        const int32_t* const neighbours = near_.of(city);
        for (int i = 0; i < near_.degree; ++i) {
            if (!is_visited_[neighbours[i]]) consider(city, neighbours[i], best);
        }
        if (best.city >= 0) return best.city;
        int other = before_[city];
        for (int i = 0; i < REACH && other >= 0; ++i, other = before_[other]) {
            consider(city, other, best);
        }
        other = after_[city];
        for (int i = 0; i < REACH && other >= 0; ++i, other = after_[other]) {
            consider(city, other, best);
        }
        return best.city;
    }

    struct Candidate {
        int64_t length;
        int city;  // -1: none
    };

    __device__ void consider(int city, int other, Candidate& best) const {
        const int64_t length = lengths_.of(city, other);
        const bool is_shorter =
            length < best.length || (length == best.length && other < best.city);
        if (best.city < 0 || is_shorter) best = {length, other};
    }

    const RandomLengths& lengths_;
    const Neighbours& near_;
    int32_t *const is_visited_, *const before_, *const after_;
};

}  // namespace tours
