// An entry point with which a test calls the logistic function. Reads `x`; writes `out`.
// No random numbers.
#include "core/core.cuh"
#include "core/sigmoid.cuh"

KERNEL(check_sigmoid, (int32_t n, const float* x, float* out)) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = sigmoid::of(x[i]);
}
