// Entry points with which a test calls the Metropolis rule. Reads changes of costs and random
// words; writes all decisions. No random numbers.
#include "core/core.cuh"
#include "tempering/acceptance.cuh"

template <class Delta>
__device__ void check(int n, const int64_t* raised, const uint32_t* words, double temperature,
                      int32_t* out) {
    const tempering::Acceptance<Delta> acceptance(temperature);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        out[i] = acceptance.may_accept(Delta(raised[i]), words[i]);
        out[n + i] = acceptance.may_ever_accept(Delta(raised[i]));
        out[2 * n + i] = acceptance.accepts(Delta(raised[i]), words[i]);
    }
}

KERNEL(check_int, (int32_t n, const int64_t* raised, const uint32_t* words, double temperature,
                   int32_t* out)) {
    check<int32_t>(n, raised, words, temperature, out);
}

KERNEL(check_long, (int32_t n, const int64_t* raised, const uint32_t* words, double temperature,
                    int32_t* out)) {
    check<int64_t>(n, raised, words, temperature, out);
}
