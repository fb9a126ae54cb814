// The best child of a pair takes the slot of its first parent: the segments of A are copied in the
// order and direction in which the child has them. All threads of a block work together. Reads the
// outcomes and records of the children; writes a tour of the next generation, its positions and the
// frequencies of edges. No random numbers.
#pragma once

#include "eax/frequencies.cuh"

namespace eax {

// Return the child with the highest score, of equals the first, or -1 if none is accepted.
__device__ int winner_of(const Outcome* outcome, int children) {
    int best = -1;
    double most = 0.0;
    for (int i = 0; i < children; ++i) {
        if (outcome[i].score > most) most = outcome[i].score, best = i;
    }
    return best;
}

class Winner {
  public:
    __device__ Winner(Scratch& scratch, int n)
        : n_(n),
          at_(scratch.take<int32_t>(MOST_CUTS)),
          link_(scratch.take<int32_t>(2 * MOST_CUTS)),
          turn_(scratch.take<int32_t>(MOST_CUTS)),
          begin_(scratch.take<int32_t>(MOST_CUTS + 1)) {}

    // Write the child of a record.
    __device__ void write(const Position* record, const encoding::Gene* from, encoding::Gene* to,
                          Position* position) {
        cuts_ = record[0];
        for (int i = threadIdx.x; i < cuts_; i += blockDim.x) at_[i] = record[1 + i];
        for (int i = threadIdx.x; i < 2 * cuts_; i += blockDim.x) {
            link_[i] = record[1 + MOST_CUTS + i];
        }
        __syncthreads();
        if (threadIdx.x == 0) follow();
        __syncthreads();
        for (int i = threadIdx.x, segment = 0; i < n_; i += blockDim.x) {
            while (begin_[segment + 1] <= i) ++segment;
            const int r = turn_[segment] / 2, k = i - begin_[segment];
            int place = turn_[segment] % 2 ? at_[r] + 1 + k : at_[next(r)] - k;
            place = place >= n_ ? place - n_ : place < 0 ? place + n_ : place;
            const encoding::Gene city = from[place];
            to[i] = city;
            position[city] = Position(i);
        }
    }

    // Count the edges that have changed.
    __device__ void count(const Frequencies& frequencies, const encoding::Gene* from) {
        for (int e = threadIdx.x; e < 2 * cuts_; e += blockDim.x) {
            const int here = from[position_of(e)];
            if (link_[e] > e) frequencies.change(here, from[position_of(link_[e])], 1);
            if (e & 1) frequencies.change(here, from[position_of(e - 1)], -1);
        }
    }

  private:
    __device__ int next(int r) const { return r + 1 == cuts_ ? 0 : r + 1; }
    __device__ int position_of(int end) const { return wrapped(at_[end / 2] + (end & 1), n_); }

    // Follow the child from the segment behind the first cut: list the segments with their
    // directions and the places where they begin. One thread.
    __device__ void follow() {
        int r = 0, place = 0;
        bool is_forward = true;
        for (int i = 0; i < cuts_; ++i) {
            int length = at_[next(r)] - at_[r];
            if (length <= 0) length += n_;
            turn_[i] = 2 * r + is_forward;
            begin_[i] = place;
            place += length;
            const int end = link_[is_forward ? 2 * next(r) : 2 * r + 1];
            is_forward = end & 1;
            r = is_forward ? end / 2 : end == 0 ? cuts_ - 1 : end / 2 - 1;
        }
        begin_[cuts_] = place;
    }

    const int n_;
    int cuts_ = 0;
    int32_t *const at_, *const link_, *const turn_, *const begin_;
};

}  // namespace eax
