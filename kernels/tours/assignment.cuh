// Constructs a directed tour from an optimal assignment: each city is assigned its successor, so
// that the sum of randomised lengths is minimal, and the cycles of the assignment are joined. For
// random matrices, the assignment is hardly shorter than the shortest tour. All threads of a block
// cooperate. Reads the problem and the neighbours; writes a tour. No random numbers of its own.
#pragma once

#include "core/block.cuh"
#include "improvers/base.cuh"
#include "tours/neighbours.cuh"
#include "tours/random_lengths.cuh"

namespace tours {

class Assignment {
  public:
    static constexpr int ARRAYS =
        6;  // in its memory, each with an entry per node; a city has two nodes

    __device__ Assignment(const RandomLengths& lengths, const Neighbours& near, int32_t* memory,
                          int64_t pitch)
        : lengths_(lengths),
          near_(near),
          count_(lengths.n / 2),
          price_(reinterpret_cast<int64_t*>(memory)),
          distance_(reinterpret_cast<int64_t*>(memory + pitch)),
          via_(memory + 2 * pitch),
          is_done_(memory + 3 * pitch),
          next_(memory + 4 * pitch),
          before_(memory + 5 * pitch) {}

    // Write a tour to `order`, all threads together; return false if a stop was requested.
    __device__ bool run(const improver::Plan& plan, int32_t* order) {
        begin();
        for (int city = 0; city < count_; ++city) {
            if (next_[city] != NONE) continue;
            if (improver::halts(plan)) return false;
            assign(city);
        }
        join_cycles();
        write(order);
        return true;
    }

  private:
    static constexpr int NONE = -1;
    // The length of a forbidden leg: more than thousands of others, and sums fit into 64 bits.
    static constexpr int64_t LONGEST = int64_t(1) << 50;
    using Least = block::Least<int64_t>;

    __device__ int64_t length(int from, int to) const {
        return from == to ? LONGEST : min(LONGEST, lengths_.of(2 * from + 1, 2 * to));
    }

    // Return the least of all threads, after all have read the previous result.
    __device__ static Least least(Least mine) {
        __syncthreads();
        return block::least(mine);
    }

    // Set the price of each city to the shortest leg to it; then assign to each city in turn the
    // one that is nearest at these prices, if it is free.
    __device__ void begin() {
        for (int to = threadIdx.x; to < count_; to += blockDim.x) {
            int64_t least = LONGEST;
            for (int from = 0; from < count_; ++from) least = min(least, length(from, to));
            price_[to] = least;
            next_[to] = before_[to] = NONE;
        }
        __syncthreads();
        for (int from = threadIdx.x; from < count_; from += blockDim.x) {
            Least best;
            for (int to = 0; to < count_; ++to) {
                const int64_t tried = length(from, to) - price_[to];
                if (tried < best.value) best = {tried, uint32_t(to)};
            }
            via_[from] = best.index;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int from = 0; from < count_; ++from) {
                if (before_[via_[from]] == NONE) link(from, via_[from]);
            }
        }
        __syncthreads();
    }

    __device__ void link(int from, int to) const { next_[from] = to, before_[to] = from; }

    // Assign one more city along the shortest alternating path to a free one.
    __device__ void assign(int city) {
        Least mine;
        for (int to = threadIdx.x; to < count_; to += blockDim.x) {
            distance_[to] = length(city, to) - price_[to];
            via_[to] = city;
            is_done_[to] = 0;
            if (distance_[to] < mine.value) mine = {distance_[to], uint32_t(to)};
        }
        Least found;
        for (;;) {
            found = least(mine);
            const int last = found.index, from = before_[last];
            if (last % blockDim.x == threadIdx.x) is_done_[last] = 1;
            if (from == NONE) break;
            const int64_t base = found.value - (length(from, last) - price_[last]);
            mine = {};
            for (int to = threadIdx.x; to < count_; to += blockDim.x) {
                if (is_done_[to]) continue;
                const int64_t tried = base + length(from, to) - price_[to];
                if (tried < distance_[to]) distance_[to] = tried, via_[to] = from;
                if (distance_[to] < mine.value) mine = {distance_[to], uint32_t(to)};
            }
        }
        for (int to = threadIdx.x; to < count_; to += blockDim.x) {
            if (is_done_[to]) price_[to] += distance_[to] - found.value;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int to = found.index, from = NONE; from != city;) {
                from = via_[to];
                const int freed = next_[from];
                link(from, to);
                to = freed;
            }
        }
        __syncthreads();
    }

    // Join the smallest cycle with another one, until there is only one.
    __device__ void join_cycles() {
        int32_t *const cycle = via_, *const size = is_done_;
        if (threadIdx.x == 0) number_cycles(cycle, size);
        __syncthreads();
        for (;;) {
            Least mine;
            for (int i = threadIdx.x; i < count_; i += blockDim.x) {
                if (size[i] > 0 && size[i] < mine.value) mine = {size[i], uint32_t(i)};
            }
            const Least smallest = least(mine);
            if (smallest.value == count_) break;
            Least found = best_exchange(cycle, smallest.index, false);
            if (found.value == Least::NONE) found = best_exchange(cycle, smallest.index, true);
            const int one = found.index / count_, other = found.index % count_;
            const int into = cycle[other];
            __syncthreads();
            for (int i = threadIdx.x; i < count_; i += blockDim.x) {
                if (cycle[i] == int(smallest.index)) cycle[i] = into;
            }
            if (threadIdx.x == 0) {
                const int next = next_[one];
                link(one, next_[other]);
                link(other, next);
                size[into] += size[smallest.index];
                size[smallest.index] = 0;
            }
            __syncthreads();
        }
    }

    // Number each cycle by its first city, where `size` is set to its length.
    __device__ void number_cycles(int32_t* cycle, int32_t* size) const {
        for (int i = 0; i < count_; ++i) cycle[i] = NONE, size[i] = 0;
        for (int i = 0; i < count_; ++i) {
            for (int city = i; cycle[city] == NONE; city = next_[city]) cycle[city] = i, ++size[i];
        }
    }

    // Return the cheapest exchange of the successors of a city of a cycle and one outside; the
    // index identifies both. Candidates outside are near the city or its successor or, `with_all`,
    // all cities.
    __device__ Least best_exchange(const int32_t* cycle, int number, bool with_all) const {
        Least best;
        for (int one = threadIdx.x; one < count_; one += blockDim.x) {
            if (cycle[one] != number) continue;
            const auto consider = [&](int other) {
                if (cycle[other] == number) return;
                const int64_t cost = exact(one, next_[other]) + exact(other, next_[one]) -
                                     exact(other, next_[other]);
                const Least tried{cost - exact(one, next_[one]), uint32_t(one) * count_ + other};
                const bool is_first = tried.value == best.value && tried.index < best.index;
                if (tried.value < best.value || is_first) best = tried;
            };
            if (with_all) {
                for (int other = 0; other < count_; ++other) consider(other);
            } else {
                const int32_t* const after = near_.of(2 * one + 1);
                const int32_t* const before = near_.of(2 * next_[one]);
                for (int k = 0; k < near_.degree; ++k) {
                    consider(before_[after[k] / 2]);
                    consider(before[k] / 2);
                }
            }
        }
        return least(best);
    }

    // Return a length that is not randomised.
    __device__ int64_t exact(int from, int to) const {
        return problem::distance(lengths_.data, lengths_.n, {2 * from + 1}, {2 * to});
    }

    __device__ void write(int32_t* order) const {
        if (threadIdx.x == 0) {
            for (int i = 0, city = 0; i < count_; ++i, city = next_[city]) {
                order[2 * i] = 2 * city;
                order[2 * i + 1] = 2 * city + 1;
            }
        }
        __syncthreads();
    }

    const RandomLengths& lengths_;
    const Neighbours& near_;
    const int count_;  // of cities
    int64_t *const price_, *const distance_;
    int32_t *const via_, *const is_done_, *const next_, *const before_;
};

}  // namespace tours
