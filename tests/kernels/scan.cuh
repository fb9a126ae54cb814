// Writes to row b of `value`, for block b, the sums of the entries before each. Compiles quickly.
// No random numbers.
#include "core/core.cuh"

KERNEL(scan, (int32_t n, uint32_t* value)) { block::scan(value + blockIdx.x * n, n); }
