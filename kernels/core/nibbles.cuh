// Writes rows of bits, four bits per thread. No random numbers.
#pragma once

#include "core/core.cuh"

namespace nibbles {

// Write bits 4 * number to 4 * number + 3. Called by groups of eight neighbouring threads with
// consecutive numbers, the first a multiple of eight. The result is visible after a barrier.
__device__ void put(uint32_t* row, int number, uint32_t nibble) {
    const uint32_t shifted = nibble << (4 * (number % 8));
#ifdef __CUDACC__
    uint32_t word = shifted;
    for (int step = 1; step < 8; step *= 2) word |= __shfl_xor_sync(block::ALL, word, step);
    if (number % 8 == 0) row[number / 8] = word;
#else
    row[number / 8] = number % 8 == 0 ? shifted : row[number / 8] | shifted;
#endif
}

}  // namespace nibbles
