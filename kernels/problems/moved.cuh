// A view of a solution after a move, for costs without a delta. Reads the solution.
// No random numbers.
#pragma once

#include "moves.cuh"
#include "problems/solution.cuh"

namespace problem {
namespace moved {

#if SOLUTION_KIND == SOLUTION_ORDER

class Solution {
  public:
    __device__ Solution(const int32_t* item, const moves::Any& move) : item_(item), move_(move) {}
    __device__ Solution(const int32_t* item, const moves::Swap& move)
        : Solution(item, {moves::Any::SWAP, move.u, move.v, 0}) {}
    __device__ Solution(const int32_t* item, const moves::Reversal& move)
        : Solution(item, {moves::Any::REVERSAL, move.u, move.v, 0}) {}
    __device__ Solution(const int32_t* item, const moves::Insertion& move)
        : Solution(item, {moves::Any::INSERTION, move.u, move.v, 0}) {}

    __device__ int operator[](int place) const {
        const int u = move_.u, v = move_.v;
        if (place < u || place > v) return item_[place];
        if (move_.kind == moves::Any::REVERSAL) return item_[moves::Reversal{u, v}.source(place)];
        if (move_.kind == moves::Any::INSERTION) return item_[moves::Insertion{u, v}.source(place)];
        if (move_.kind == moves::Any::ROTATION) {
            return item_[moves::Rotation{u, v, move_.by}.source(place)];
        }
        return item_[place == u ? v : place == v ? u : place];
    }

  private:
    const int32_t* const item_;
    const moves::Any move_;
};

#elif SOLUTION_KIND == SOLUTION_SUBSET

class Solution {
  public:
    __device__ Solution(const problem::Solution& solution, const moves::Flips& move)
        : solution_(solution), move_(move) {}

    __device__ int operator[](int item) const {
        return solution_[item] ^ int(item == move_.one || item == move_.other);
    }

  private:
    const problem::Solution solution_;
    const moves::Flips move_;
};

#elif SOLUTION_KIND == SOLUTION_CHOICES

class Solution {
  public:
    __device__ Solution(const problem::Solution& solution, const moves::Choice& move)
        : solution_(solution),
          item_(move.item),
          other_(move.other),
          value_(move.exchanges() ? solution[move.other] : move.value) {}

    __device__ int operator[](int item) const {
        return item == item_ ? value_ : solution_[item == other_ ? item_ : item];
    }

  private:
    const problem::Solution solution_;
    const int item_, other_, value_;
};

#else

class Solution {
  public:
    __device__ Solution(const problem::Solution& solution, const moves::Setting<Stored>& move)
        : solution_(solution), move_(move) {}

    __device__ auto operator[](int item) const {
        return item == move_.item ? solution_.of(item, move_.value) : solution_[item];
    }

  private:
    const problem::Solution solution_;
    const moves::Setting<Stored> move_;
};

#endif

}  // namespace moved
}  // namespace problem
