// The tabu tenures, drawn to scratch memory for several steps at once. Random streams: TENURE.
#pragma once

#include "core/core.cuh"
#include "improvers/base.cuh"

namespace improver {

namespace tabu {

using Step = unsigned short;
constexpr Step LAST = 0xfffe;      // the largest expiry, beyond all steps
constexpr int DRAWN_AT_ONCE = 64;  // steps, with two tenures each

class Tenures {
  public:
    __device__ explicit Tenures(Scratch& scratch)
        : tenure_(scratch.take<Step>(2 * DRAWN_AT_ONCE)) {}

    // Draw the tenures of this step and the following ones, visible after the next barrier.
    __device__ void draw(const Plan& plan, int now, const draw::Place& place) {
        const uint32_t kinds = plan.tenure_high - plan.tenure_low + 1;
        const auto tenure = [&](uint32_t word) {
            return Step(min(uint32_t(LAST), plan.tenure_low + draw::below(word, kinds)));
        };
        for (int pair = threadIdx.x; pair < DRAWN_AT_ONCE / 2; pair += blockDim.x) {
            const uint4 word = place.words(stream::TENURE, now / 2 + pair);
            Step* const four = tenure_ + 4 * pair;
            four[0] = tenure(word.x);
            four[1] = tenure(word.y);
            four[2] = tenure(word.z);
            four[3] = tenure(word.w);
        }
    }

    // Return the step until which the first or second item of this step's exchange may not return.
    __device__ Step expiry(int now, int number) const {
        return min(int(LAST), now + tenure_[2 * (now % DRAWN_AT_ONCE) + number]);
    }

  private:
    Step* const tenure_;
};

}  // namespace tabu

}  // namespace improver
