// Tabu rules: an exchange is tabu if it moves both items back to places that they left recently.
// TABU_ASPIRATION: exchanges of items that left long ago are preferred. Reads and writes its tables
// in scratch memory. Random streams: TENURE (tenures.cuh).
#pragma once

#include "improvers/swap_deltas.cuh"
#include "improvers/tenures.cuh"

namespace improver {

namespace tabu {

using Delta = problem::SwapDeltas::Delta;
using Least = block::Least<Delta>;

constexpr Step NEVER = 0xffff;  // the expiry of entries that are not pairs
#ifdef __CUDACC__
using Expiry = Step;
#else
// Values of exchanges that vector instructions process at once.
using Lanes = lanes::Of<Delta>;
// As wide as stored deltas: compilers would convert 16-bit steps to vectors one by one.
using Expiry = std::conditional_t<problem::SwapDeltas::EVALUATES, Step, Delta>;
#endif

// The values of exchanges at one step: the delta, or NONE if the exchange is tabu.
struct Scale {
    // Subtracted from the deltas of preferred exchanges, which are small enough for it.
    static constexpr Delta PREFERENCE = Least::NONE / 2;

    int aspiration, now = 0;
    Delta aspired = 0;  // a smaller delta improves on the best cost so far

    __device__ explicit Scale(int aspiration) : aspiration(aspiration) {}

    __device__ void aspire(int64_t to_best) {
        aspired = to_best < -int64_t(Least::NONE) ? -Least::NONE : Delta(to_best);
    }

    // `first` and `second` are the steps from which the two items may return. On a CPU, the
    // arguments may be vectors for several exchanges.
    template <class Number, class Time>
    __device__ Number value(const Number& delta, const Time& first) const {
        const Time latest = delta < aspired ? Time{} + int(LAST) : Time{} + now;
        return first <= latest ? delta : Number{} + Least::NONE;
    }
    template <class Number, class Time>
    __device__ Number value(const Number& delta, const Time& first, const Time& second) const {
        const auto preferred = (delta < aspired) | (now - second >= aspiration);
        const auto allowed = (first != NEVER) & (preferred | (first <= now));
        return allowed ? (preferred ? delta - PREFERENCE : delta) : Number{} + Least::NONE;
    }
    __device__ Delta delta(Delta value) const {
        return value < -PREFERENCE / 2 ? value + PREFERENCE : value;
    }
};

// The steps until which items may not return to their places.
class Prohibitions {
  public:
    __device__ Prohibitions(Scratch& scratch, int n, const block::Triangle& triangle)
        : n_(n),
          pitch_(block::row_pitch<Step>(n)),
          triangle_(triangle),
          expiry_(scratch.take<Step>(n * pitch_)),
          first_(scratch.take<Expiry>(triangle.entries())),
#if TABU_ASPIRATION
          second_(scratch.take<Expiry>(triangle.entries())),
#endif
          tenures_(scratch) {
    }

    __device__ void begin() {
        for (int e = threadIdx.x; e < n_ * pitch_; e += blockDim.x) expiry_[e] = 0;
        for (int run = threadIdx.x; run < triangle_.runs(); run += blockDim.x) {
            const auto [i, first] = triangle_.place(run);
            for (int k = 0; k < block::RUN; ++k) {
                const int e = run * block::RUN + k, j = first + k;
                first_[e] = triangle_.has(i, j) ? 0 : NEVER;
#if TABU_ASPIRATION
                second_[e] = first_[e];
#endif
            }
        }
    }

    __device__ void draw_tenures(const Plan& plan, int now, const draw::Place& place) {
        tenures_.draw(plan, now, place);
    }

    // Forbid both items of an exchange to return to their places.
    __device__ void forbid(moves::Swap swap, int now) {
        const int r = swap.u, s = swap.v;
        Step *const row_r = expiry_ + r * pitch_, *const row_s = expiry_ + s * pitch_;
        for (int j = block::from_last(); j < n_; j += blockDim.x) {
            if (j == s) continue;
            if (j == r) {
                const Step of_r = tenures_.expiry(now, 0), of_s = tenures_.expiry(now, 1);
                row_r[r] = row_r[s], row_r[s] = of_r;
                row_s[s] = row_s[r], row_s[r] = of_s;
                note(r, s, of_r, of_s);
            } else {
                Step* const row = expiry_ + j * pitch_;
                const Step with_r = row[s], with_s = row[r];
                row[r] = with_r, row[s] = with_s;
                note(r, j, row_r[j], with_r);
                note(s, j, row_s[j], with_s);
            }
        }
    }

#ifdef __CUDACC__
    // Call body(k, value) for each exchange of a run of pairs.
    template <class Body>
    __device__ void values(const Scale& scale, const block::Run<Delta>& delta, int run,
                           Body body) const {
        using Steps = block::Run<Step>;
        const Steps first = reinterpret_cast<const Steps*>(first_)[run];
#if TABU_ASPIRATION
        const Steps second = reinterpret_cast<const Steps*>(second_)[run];
#endif
        block::along_run([&](int k) {
#if TABU_ASPIRATION
            body(k, scale.value(delta.item[k], int(first.item[k]), int(second.item[k])));
#else
            body(k, scale.value(delta.item[k], int(first.item[k])));
#endif
        });
    }
#else
    // Return the values of the exchanges in a part of a run of pairs.
    Lanes values(const Scale& scale, const block::Run<Delta>& deltas, int run, int part) const {
        const int k = part * lanes::COUNT<Delta>, e = run * block::RUN + k;
        const Lanes delta = lanes::load<Delta>(deltas.item + k),
                    first = lanes::load<Delta>(first_ + e);
#if TABU_ASPIRATION
        return scale.value(delta, first, lanes::load<Delta>(second_ + e));
#else
        return scale.value(delta, first);
#endif
    }
#endif

  private:
    __device__ void note(int i, int j, Step of_i, Step of_j) {
        if (triangle_.are_equal(i, j)) return;
        const int e = triangle_.at(i, j);
        first_[e] = min(of_i, of_j);
#if TABU_ASPIRATION
        second_[e] = of_i < of_j ? of_j : of_i;
#endif
    }

    const int n_, pitch_;
    const block::Triangle triangle_;
    Step* const expiry_;  // [item][item now at the place]
    // Per pair: the step from which one item may return, which allows the exchange.
    Expiry* const first_;
#if TABU_ASPIRATION
    Expiry* const second_;  // the same for the other item
#endif
    Tenures tenures_;
};

}  // namespace tabu

}  // namespace improver
