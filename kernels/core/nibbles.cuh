// Rows of bits, written four bits a thread.
#pragma once

#include "core/core.cuh"

namespace nibbles {

// Puts four bits in their place: those from 4 * number on. Neighbouring threads call with numbers
// on end, in eights that begin with a multiple of eight; what they wrote is seen after a barrier.
__device__ void put(uint32_t* row, int number, uint32_t nibble) {
    const uint32_t mine = nibble << (4 * (number % 8));
#ifdef __CUDACC__
    uint32_t word = mine;
    for (int step = 1; step < 8; step *= 2) word |= __shfl_xor_sync(block::ALL, word, step);
    if (number % 8 == 0) row[number / 8] = word;
#else
    row[number / 8] = number % 8 == 0 ? mine : row[number / 8] | mine;
#endif
}

}  // namespace nibbles
