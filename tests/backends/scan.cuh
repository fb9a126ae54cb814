// Makes row b of `value`, for block b, the sums of what stood before each place. Compiles quickly.
#include "core/core.cuh"

KERNEL(scan, (int32_t n, uint32_t* value)) { block::scan(value + blockIdx.x * n, n); }
