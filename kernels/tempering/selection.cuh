// The state of a chain that chooses places: its cost is a constant plus, in units of the plan's
// scale, the sum of alone[p] over the chosen places and of weights[p][q] over their pairs. The
// field of a place is alone[p] plus its weights with all chosen places. Exchanging a chosen place p
// for a free one q raises the cost by the field of q minus the field of p and minus the weight of
// the pair. Reads the weights and an order, whose first entries are the chosen places; writes such
// orders. No random numbers.
#pragma once

#include "core/core.cuh"
#include "tempering/plan.cuh"

namespace tempering {

using Weight = TEMPERING_WEIGHT;
using Delta = TEMPERING_FIELD;

class Selection {
  public:
    __device__ Selection(Scratch& scratch, int n, const algorithm::Plan& plan)
        : n_(n),
          chosen_(plan.chain.chosen),
          first_free_(rounded(chosen_)),
          weights_(plan.chain.weights),
          alone_(plan.chain.alone),
          place_(scratch.take<int32_t>(entries())),
          field_(scratch.take<Delta>(entries())) {}

    // The order is complete on entry; the state is visible after the next barrier.
    __device__ void begin(const int32_t* order) {
        const int down = blockDim.x > 1 ? n_ : 1, right = blockDim.x > 1 ? 1 : n_;
        for (int e = threadIdx.x; e < entries(); e += blockDim.x) {
            const bool exists = e < chosen_ || (e >= first_free_ && e < first_free_ + free());
            const int p = exists ? order[position(e)] : 0;
            Delta field = exists ? alone_[p] : FAR;
            if (exists) {
                for (int k = 0; k < chosen_; ++k) field += weights_[order[k] * down + p * right];
            }
            place_[e] = p;
            field_[e] = field;
        }
    }

    __device__ int chosen() const { return chosen_; }
    __device__ int free() const { return n_ - chosen_; }
    // Number of runs of free places; the last one may have entries without a place.
    __device__ int runs() const { return rounded(free()) / block::RUN; }

    __device__ int32_t chosen_place(int i) const { return place_[i]; }
    __device__ int32_t free_place(int k) const { return place_[first_free_ + k]; }

    // Return the cost increases by the exchanges of chosen place i for a run of free ones; entries
    // without a place have larger values than any exchange.
    __device__ block::Run<Delta> raised(int i, int run) const {
        const Weight* const row = weights_ + int64_t(place_[i]) * n_;
        const Delta own = field_[i];
        const int first = first_free_ + run * block::RUN;
        block::ReadRun<int32_t> places =
            *reinterpret_cast<const block::Run<int32_t>*>(place_ + first);
        block::ReadRun<Delta> fields = *reinterpret_cast<const block::Run<Delta>*>(field_ + first);
        block::Run<Delta> raised;
        block::along_run(
            [&](int c) { raised.item[c] = fields.item[c] - (own + row[places.item[c]]); });
        return raised;
    }

    // Exchange chosen place i, which is `lost`, for free place k, which is `gained`; this raises
    // the cost by `by`. The state may be read after the next barrier.
    __device__ void exchange(int i, int k, int32_t lost, int32_t gained, Delta by) {
        const Weight* const old_row = weights_ + int64_t(lost) * n_;
        const Weight* const new_row = weights_ + int64_t(gained) * n_;
        const int end = first_free_ + free(), other = first_free_ + k;
        for (int e = threadIdx.x; e < end; e += blockDim.x) {
            const int32_t p = place_[e];
            field_[e] += new_row[p] - old_row[p];
        }
        // The two places themselves, by the threads that have just updated their fields.
        const Weight both = old_row[gained];
        if (threadIdx.x == i % blockDim.x) place_[i] = gained, field_[i] += by - both;
        if (threadIdx.x == other % blockDim.x) place_[other] = lost, field_[other] += both - by;
    }

    // Write the order: chosen places first.
    __device__ void store(int32_t* order) const {
        for (int e = threadIdx.x; e < first_free_ + free(); e += blockDim.x) {
            if (e < chosen_ || e >= first_free_) order[position(e)] = place_[e];
        }
    }

  private:
    // More than any cost change, and half of the type's maximum.
    static constexpr Delta FAR = Delta(1) << (8 * sizeof(Delta) - 2);

    __device__ static int rounded(int count) {
        return (count + block::RUN - 1) / block::RUN * block::RUN;
    }
    __device__ int entries() const { return first_free_ + rounded(free()); }
    __device__ int position(int entry) const {
        return entry < first_free_ ? entry : entry - first_free_ + chosen_;
    }

    const int n_, chosen_, first_free_;
    const Weight* const weights_;
    const Delta* const alone_;
    int32_t* const place_;
    Delta* const field_;
};

}  // namespace tempering
