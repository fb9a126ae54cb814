// An order as it would be after a move, for costs without a delta. Reads the order.
// No random numbers.
#pragma once

#include "moves.cuh"

namespace problem {
namespace moved {

class Solution {
  public:
    __device__ Solution(const int32_t* item, const moves::Swap& move)
        : item_(item), u_(move.u), v_(move.v), kind_(SWAP) {}
    __device__ Solution(const int32_t* item, const moves::Reversal& move)
        : item_(item), u_(move.u), v_(move.v), kind_(REVERSAL) {}
    __device__ Solution(const int32_t* item, const moves::Insertion& move)
        : item_(item), u_(move.u), v_(move.v), kind_(INSERTION) {}

    __device__ int operator[](int place) const {
        if (place < u_ || place > v_) return item_[place];
        if (kind_ == REVERSAL) return item_[moves::Reversal{u_, v_}.source(place)];
        if (kind_ == INSERTION) return item_[moves::Insertion{u_, v_}.source(place)];
        return item_[place == u_ ? v_ : place == v_ ? u_ : place];
    }

  private:
    enum { SWAP, REVERSAL, INSERTION };

    const int32_t* item_;
    int u_, v_, kind_;
};

}  // namespace moved
}  // namespace problem
