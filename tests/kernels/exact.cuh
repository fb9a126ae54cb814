// Entry points through which a test calls the elementary functions. Read `x` and `y`; write `out`.
// No random numbers.
#include "core/exact.cuh"

KERNEL(check_functions, (int32_t n, const double* x, double* out)) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        out[i] = exact::exp(x[i]);
        out[n + i] = exact::log(x[i]);
        out[2 * n + i] = exact::sin(x[i]);
        out[3 * n + i] = exact::cos(x[i]);
    }
}

KERNEL(check_pow, (int32_t n, const double* x, const double* y, double* out)) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = exact::pow(x[i], y[i]);
}
