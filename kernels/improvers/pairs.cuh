// The pairs of positions u < v that a local search tries, in order. No random numbers.
#pragma once

#include "core/core.cuh"

namespace improver {

struct Pair {
    int u, v;
};

// The pairs as a cycle: all of them in lexicographic order, or those with a given position, sorted
// by the other one.
class Pairs {
  public:
    static constexpr int ALL = -1;

    __device__ Pairs(int n, int position) : n_(n), position_(position) {}

    __device__ int64_t size() const {
        return position_ == ALL ? int64_t(n_) * (n_ - 1) / 2 : n_ - 1;
    }

    __device__ bool are_all() const { return position_ == ALL; }

    // Return the index of a pair among all pairs.
    __device__ int64_t number(Pair pair) const { return first(pair.u) + pair.v - pair.u - 1; }

    // Return the pair with an index below size().
    __device__ Pair at(int64_t number) const {
        if (position_ != ALL) return with(int(number) + (number >= position_));
        // The square root gives the row; correct it for rounding.
        const double odd = 2.0 * n_ - 1;
        int u = min(n_ - 2, int((odd - sqrt(odd * odd - 8.0 * number)) / 2));
        while (first(u) > number) --u;
        while (first(u + 1) <= number) ++u;
        return {u, u + 1 + int(number - first(u))};
    }

    // Return the pair `steps` after another one, without a square root.
    __device__ Pair after(Pair pair, int steps) const {
        if (position_ != ALL) {
            const int other = pair.u == position_ ? pair.v : pair.u;
            const int number = other - (other > position_) + steps % (n_ - 1);
            return at(number < n_ - 1 ? number : number - (n_ - 1));
        }
        pair.v += steps;
        while (pair.v >= n_) {
            pair.u = pair.u < n_ - 2 ? pair.u + 1 : 0;
            pair.v += pair.u + 1 - n_;
        }
        return pair;
    }

  private:
    // Return the index of the first pair of a row.
    __device__ int64_t first(int u) const { return int64_t(u) * (2 * n_ - 1 - u) / 2; }

    __device__ Pair with(int other) const {
        return other < position_ ? Pair{other, position_} : Pair{position_, other};
    }

    const int n_, position_;
};

}  // namespace improver
