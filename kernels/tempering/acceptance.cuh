// The Metropolis rule: a move that raises the cost by d is accepted with probability
// exp(-d / temperature). Decisions are the same on every device. No random numbers here: the caller
// passes random words.
#pragma once

#include "core/core.cuh"

namespace tempering {

constexpr float LN2 = 0x1.62e43p-1f;
constexpr int BITS = 24;  // random bits used

// Return -ln(x / 2^24) for x from 1 to 2^24, accurate to about 2^-22. With x = 2^k m and s = (m -
// 1) / (m + 1), ln(m) is 2 (s + s^3 / 3 + s^5 / 5 + ...).
__device__ float minus_log(uint32_t x) {
    const uint32_t bits = __float_as_uint(float(int(x)));
    const float m = __uint_as_float((bits & 0x7fffffu) | 0x3f800000u);
    const float s = (m - 1.0f) / (m + 1.0f), z = s * s;
    float series = 2.0f / 11.0f;
    series = series * z + 2.0f / 9.0f;
    series = series * z + 2.0f / 7.0f;
    series = series * z + 2.0f / 5.0f;
    series = series * z + 2.0f / 3.0f;
    series = series * z + 2.0f;
    return float(127 + BITS - int(bits >> 23)) * LN2 - series * s;
}

template <class Delta>
class Acceptance {
  public:
    __device__ explicit Acceptance(double temperature) : temperature_(float(temperature)) {
        // Limited so that may_accept() does not overflow; the limit is too low only for huge costs.
        constexpr double MOST = double(Delta(~uint64_t(0) >> (65 - 8 * sizeof(Delta))) / 32);
        const double step = temperature * double(LN2) * 1.00001 + 1.0;
        step_ = Delta(step < MOST ? step : MOST);
    }

    // Return false if a change is certainly rejected with this random word; fast.
    __device__ bool may_accept(Delta raised, uint32_t word) const {
        const int exponent = __float_as_uint(float(int((word >> (32 - BITS)) + 1))) >> 23;
        return raised <= step_ * Delta(127 + BITS - exponent);
    }

    // The same in floating point: stricter at low temperatures, as step_ is rounded up.
    __device__ bool may_accept_small(Delta raised, uint32_t word) const {
        const int exponent = __float_as_uint(float(int((word >> (32 - BITS)) + 1))) >> 23;
        return float(raised) <= temperature_ * (LN2 * 1.00001f) * float(127 + BITS - exponent);
    }

    // Return false if a change is certainly rejected with any random word.
    __device__ bool may_ever_accept(Delta raised) const { return raised <= step_ * Delta(BITS); }

    // Return whether a change is accepted.
    template <class Number>
    __device__ bool accepts(Number raised, uint32_t word) const {
        return float(raised) <= temperature_ * minus_log((word >> (32 - BITS)) + 1);
    }

    __device__ float temperature() const { return temperature_; }

  private:
    float temperature_;
    Delta step_;  // at least ln(2) times the temperature
};

}  // namespace tempering
