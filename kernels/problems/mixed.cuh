// Values of named parameters, encoded as coordinates of a vector: the generated `struct Solution`
// of `islands.mixed` takes them from a Reader. The arithmetic equals that of
// islands/space/parameters.py bit for bit. Reads a solution; writes values. No random numbers.
#pragma once

#include "core/exponential.cuh"
#include "problems/solution.cuh"

namespace problem {
namespace mixed {

// Return whether the entries of a solution are already values, as in a check.
__device__ bool are_values(const problem::Solution& solution) { return solution.low == nullptr; }

// In a search, entries are always coordinates, even after a move.
template <class Moved>
__device__ bool are_values(const Moved&) {
    return false;
}

// Clip a number to its bounds.
__device__ double within(double number, double low, double high) {
    return number < low ? low : number > high ? high : number;
}

template <class Solution>
class Reader {
  public:
    __device__ explicit Reader(const Solution& solution)
        : solution_(solution), are_values_(are_values(solution)) {}

    __device__ double real(int i, double, double) const { return solution_[i]; }

    __device__ double log_real(int i, double low, double high) const {
        return are_values_ ? solution_[i] : within(exact::exp(solution_[i]), low, high);
    }

    __device__ long long integer(int i, double low, double high) const {
        return static_cast<long long>(within(floor(solution_[i]), low, high));
    }

    __device__ long long log_integer(int i, double low, double high) const {
        const double number = are_values_ ? solution_[i] : exact::exp(solution_[i]);
        return static_cast<long long>(within(floor(number), low, high));
    }

    // Write the items by increasing coordinates; ties are broken by item.
    __device__ void order(int begin, int n, int* item) const {
        for (int i = 0; i < n; ++i) item[i] = are_values_ ? int(solution_[begin + i]) : i;
        for (int gap = n; !are_values_ && gap > 1;) {
            gap = gap < 5 ? 1 : gap * 5 / 11;  // of a shell sort: Gonnet and Baeza-Yates 1991
            for (int i = gap; i < n; ++i) {
                const int moving = item[i];
                const double key = solution_[begin + moving];
                int place = i;
                for (; place >= gap; place -= gap) {
                    const int other = item[place - gap];
                    const double other_key = solution_[begin + other];
                    if (other_key < key || (other_key == key && other < moving)) break;
                    item[place] = other;
                }
                item[place] = moving;
            }
        }
    }

    __device__ void subset(int begin, int n, bool* is_chosen) const {
        for (int i = 0; i < n; ++i) is_chosen[i] = solution_[begin + i] >= 0.5;
    }

  private:
    const Solution& solution_;
    const bool are_values_;
};

}  // namespace mixed
}  // namespace problem
