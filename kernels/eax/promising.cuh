// The heavy children of a pair that are worth creating: those with a higher score before merging
// than the best light child has. Merging rarely increases the score much. Reads the outcomes of
// light children and the promises of heavy ones; writes a list in scratch memory. No random
// numbers.
#pragma once

#include "eax/base.cuh"

namespace eax {

constexpr double UNKNOWN = 1e300;  // promise of a child whose score is slow to compute

struct Promising {
    uint16_t* numbers;  // [children of a pair]
    int count;
    double least;  // the score of the best light child

    // Called by all threads.
    __device__ Promising(const Plan& plan, int64_t pair, Scratch& scratch)
        : numbers(scratch.take<uint16_t>(plan.children)) {
        const Outcome* const outcome = plan.outcome + pair * plan.children;
        const double* const promise = plan.promise + pair * plan.children;
        // Scores are not negative, so their bits have the same order.
        block::Ranked best{0, 0};
        for (int i = threadIdx.x; i < plan.children; i += blockDim.x) {
            if (promise[i] > 0.0) continue;  // other blocks may write its outcome
            best.value = min(best.value, -__double_as_longlong(outcome[i].score));
        }
        least = __longlong_as_double(-block::argmin(best).value);
        uint32_t mine = 0;
        for (int i = threadIdx.x; i < plan.children; i += blockDim.x) mine += promise[i] > least;
        uint32_t before = block::sum_before(mine);
        for (int i = threadIdx.x; i < plan.children; i += blockDim.x) {
            if (promise[i] > least) numbers[before++] = uint16_t(i);
        }
        count = block::sum(int32_t(mine));
        __syncthreads();
    }
};

}  // namespace eax
