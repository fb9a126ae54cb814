// The Markov chain of a replica of a sparse quadratic model: proposes to flip each bit in turn, and
// accepts by the Metropolis rule. The items of a class are independent, so all threads flip them at
// the same time, and the chain does not depend on the number of threads. At the end, the best
// solution takes over the better parts of the state: see flip_parts.cuh. Reads the pairs of the
// plan; changes the solution, and keeps the best one. Random streams: PROPOSALS.
#pragma once

#include "core/atomic.cuh"
#include "tempering/acceptance.cuh"
#include "tempering/flip_parts.cuh"
#include "tempering/moving.cuh"

namespace tempering {

class FlipChain : public MovingChain {
  public:
    using Delta = int32_t;

    __device__ FlipChain(Scratch& scratch, Gene* row, Gene* best, const encoding::Shape& shape,
                         const problem::Data&, const algorithm::Plan& plan, int64_t)
        : n_(genes::items(shape)),
          plan_(plan.chain),
          row_(row),
          best_(best),
          raised_(scratch.take<int32_t>((n_ + RUN - 1) / RUN * RUN)),
          side_(scratch.take<int8_t>(n_)),
          parts_({raised_, scratch.take<int32_t>(n_), side_}, n_, plan.chain) {}

    // Perform a number of proposals, which should be at least one sweep, as each run begins with
    // the first place. `row` is complete and visible to all threads on entry and on return.
    __device__ Costs run(Costs costs, int proposals, bool, const Acceptance<Delta>& acceptance,
                         const draw::Place& place, const improver::Plan& improving) {
        const int64_t most = min(int64_t(proposals), costs.most);
        costs.proposed = 0;
        if (most < 1) return costs;
        improver::Lookout lookout(improving);
        prepare();
        Flipped flipped{};
        for (uint32_t sweep = 0; costs.proposed < most; ++sweep) {
            if (lookout.halts()) break;
            flipped.raised = 0;
            for (int k = 0, begin = 0; begin < n_ && costs.proposed < most; ++k) {
                const int end = int(min(int64_t(plan_.ends[k]), begin + most - costs.proposed));
                flip(begin, end, sweep, acceptance, place, flipped);
                costs.proposed += end - begin;
                begin = plan_.ends[k];
                __syncthreads();
            }
            costs.current += block::sum(flipped.raised);
            if (costs.current < costs.best) {
                costs.best = costs.current;
                write(best_);
                __syncthreads();
            }
        }
        costs.climbs = block::sum(flipped.climbs);
        write(row_);
        __syncthreads();
        costs.best += parts_.improve(best_, row_);
        return costs;
    }

    __device__ int samples() const { return 0; }

    // Return the mean cost change by a flip.
    __device__ double roughness(int64_t, const draw::Place&, const improver::Plan&) const {
        prepare();
        int64_t sum = 0;
        for (int p = threadIdx.x; p < n_; p += blockDim.x) sum += abs(raised_[p]);
        return double(block::sum(sum)) / n_;
    }

  private:
#ifdef __CUDACC__
    static constexpr int RUN = 4;  // places that a thread processes at a time
#else
    static constexpr int RUN = 64;
#endif

    // Totals of the flips of a thread.
    struct Flipped {
        int64_t raised;  // by how much the cost has risen
        int64_t climbs;  // flips that raised it
    };

    // Compute the change in cost due to each flip.
    __device__ void prepare() const {
        for (int i = threadIdx.x; i < n_; i += blockDim.x) {
            side_[plan_.place[i]] = int8_t(genes::get(row_, i));
        }
        __syncthreads();
        for (int p = threadIdx.x; p < n_; p += blockDim.x) {
            int32_t field = plan_.single[p];
            for (int e = plan_.first[p]; e < plan_.first[p + 1]; ++e) {
                if (side_[plan_.other[e]]) field += plan_.both[e];
            }
            raised_[p] = side_[p] ? -field : field;
        }
        __syncthreads();
    }

    // Propose to flip the places of one class, from `begin` to `end`.
    __device__ void flip(int begin, int end, uint32_t sweep, const Acceptance<Delta>& acceptance,
                         const draw::Place& place, Flipped& flipped) const {
        const uint32_t number = sweep * ((n_ + 63) / 64 * 16);  // the same on all devices
        for (int run = begin / RUN + threadIdx.x; run * RUN < end; run += blockDim.x) {
            uint32_t words[RUN];
            bool may[RUN];
#ifndef __CUDACC__
#pragma GCC ivdep
#endif
            for (int q = 0; q < RUN / 4; ++q) {
                const uint4 four = place.words<draw::FEWEST_ROUNDS>(stream::PROPOSALS,
                                                                    number + run * (RUN / 4) + q);
                words[4 * q] = four.x;
                words[4 * q + 1] = four.y;
                words[4 * q + 2] = four.z;
                words[4 * q + 3] = four.w;
            }
            const int32_t* const raised = raised_ + run * RUN;
            for (int k = 0; k < RUN; ++k) may[k] = acceptance.may_accept_small(raised[k], words[k]);
            const int first = max(begin - run * RUN, 0), last = min(end - run * RUN, RUN);
            if constexpr (RUN == 4) {
                for (int k = 0; k < RUN; ++k) {
                    if (!may[k] || k < first || k >= last) continue;
                    propose(run * RUN + k, words[k], acceptance, flipped);
                }
            } else {  // a list takes less time than branches
                int8_t list[RUN];
                int count = 0;
                for (int k = first; k < last; ++k) list[count] = int8_t(k), count += may[k];
                for (int i = 0; i < count; ++i) {
                    propose(run * RUN + list[i], words[list[i]], acceptance, flipped);
                }
            }
        }
    }

    __device__ void propose(int p, uint32_t word, const Acceptance<Delta>& acceptance,
                            Flipped& flipped) const {
        const int32_t raised = raised_[p];
        if (raised > 0) {
            if (!acceptance.accepts(raised, word)) return;
            ++flipped.climbs;
        }
        flipped.raised += raised;
        const int8_t side = side_[p];
        for (int e = plan_.first[p]; e < plan_.first[p + 1]; ++e) {
            const int other = plan_.other[e];
            const int32_t both = plan_.both[e];
            add(raised_ + other, both * (1 - 2 * (side_[other] ^ side)));
        }
        raised_[p] = -raised;
        side_[p] = !side;
    }

    __device__ void write(Gene* row) const {
        for (int first = 32 * threadIdx.x; first < n_; first += 32 * blockDim.x) {
            uint32_t word = 0;
            for (int i = first; i < min(first + 32, n_); ++i) {
                word |= uint32_t(side_[plan_.place[i]]) << (i - first);
            }
            row[first / 32] = word;
        }
    }

    const int n_;
    const algorithm::FlipPlan& plan_;
    Gene *const row_, *const best_;
    int32_t* const raised_;  // per place: by how much a flip raises the cost
    int8_t* const side_;     // per place: whether it is chosen
    FlipParts parts_;
};

}  // namespace tempering
