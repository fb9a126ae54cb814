// The number of tours of an island with an edge between a city and one of its neighbours. An edge
// has one entry in the table: at its lower city if the other is a neighbour of it, else at the
// other city. Edges between cities that are not neighbours are not counted. Reads tours; writes the
// table. No random numbers.
#pragma once

#include "eax/base.cuh"

namespace eax {

constexpr int MOST_DEGREE = 10;  // neighbours of a city

class Frequencies {
  public:
    __device__ Frequencies(const Plan& plan, int local, int n)
        : near_(plan.near), n_(n), table_(plan.frequency + int64_t(local) * n * near_.degree) {}

    __device__ void clear(int part, int parts) const {
        const int64_t size = int64_t(n_) * near_.degree;
        for (int64_t i = part * int64_t(blockDim.x) + threadIdx.x; i < size;
             i += int64_t(parts) * blockDim.x) {
            table_[i] = 0;
        }
    }

    // Count the edges of a tour, using all threads.
    __device__ void count(const encoding::Gene* order) const {
        for (int i = threadIdx.x; i < n_; i += blockDim.x) {
            change(order[i], order[i + 1 < n_ ? i + 1 : 0], 1);
        }
    }

    __device__ void change(int one, int other, int by) const {
        int32_t* const found = find(one, other);
        if (found) add_shared(found, by);
    }

    // Return the number of tours with an edge, or `otherwise` if it is not counted.
    __device__ int of(int one, int other, int otherwise) const {
        const int32_t* const found = find(one, other);
        return found ? *found : otherwise;
    }

  private:
    __device__ int32_t* find(int one, int other) const {
        const int low = min(one, other), high = max(one, other);
        int32_t* const found = find_in(low, high);
        return found ? found : find_in(high, low);
    }
    __device__ int32_t* find_in(int city, int other) const {
        const int32_t* const neighbours = near_.of(city);
        int found = -1;
#pragma unroll
        for (int i = 0; i < MOST_DEGREE; ++i) {  // concurrent reads
            if (i < near_.degree && neighbours[i] == other) found = i;
        }
        return found < 0 ? nullptr : table_ + int64_t(city) * near_.degree + found;
    }

    const Neighbours& near_;
    const int n_;
    int32_t* const table_;
};

}  // namespace eax
