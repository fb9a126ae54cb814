// Replaces the first parent of a pair by its chosen children: copies the segments of A in the order
// and direction that they have in the children. All threads of a block cooperate. Reads the cuts
// of the children; writes a tour of the next generation, its positions and the edge frequencies. No
// random numbers.
#pragma once

#include "eax/choice.cuh"
#include "eax/frequencies.cuh"

namespace eax {

class Winner {
  public:
    __device__ Winner(Scratch& scratch, const Choice& children, int n)
        : n_(n),
          cuts_(children.cuts),
          at_(children.at),
          link_(children.link),
          turn_(scratch.take<int32_t>(most_cuts(n))),
          begin_(scratch.take<int32_t>(most_cuts(n) + 1)) {}

    __device__ void write(const encoding::Gene* from, encoding::Gene* to, Position* position) {
        const int first_cut = longest();
        if (threadIdx.x == 0) follow(first_cut);
        __syncthreads();
        // The longest segment stays in place.
        const int shift = wrapped(at_[first_cut] + 1, n_);
        int segment = 0;
        for (int first = threadIdx.x; first < n_; first += READS_AT_ONCE * blockDim.x) {
            int before[READS_AT_ONCE];
            encoding::Gene city[READS_AT_ONCE];
#pragma unroll
            for (int k = 0; k < READS_AT_ONCE; ++k) {
                const int i = min(first + k * int(blockDim.x), n_ - 1);
                while (begin_[segment + 1] <= i) ++segment;
                before[k] = place_of(segment, i - begin_[segment]);
                city[k] = from[before[k]];
            }
#pragma unroll
            for (int k = 0; k < READS_AT_ONCE; ++k) {
                const int i = first + k * int(blockDim.x);
                const int after = i + shift < n_ ? i + shift : i + shift - n_;
                if (i < n_) to[after] = city[k];
                if (i < n_ && after != before[k]) position[city[k]] = Position(after);
            }
        }
    }

    // Update the frequencies of changed edges.
    __device__ void count(const Frequencies& frequencies, const encoding::Gene* from) {
        for (int e = threadIdx.x; e < 2 * cuts_; e += blockDim.x) {
            const int here = from[position_of(e)];
            if (link_[e] > e) frequencies.change(here, from[position_of(link_[e])], 1);
            if (e & 1) frequencies.change(here, from[position_of(e - 1)], -1);
        }
    }

  private:
    __device__ int next(int r) const { return r + 1 == cuts_ ? 0 : r + 1; }
    // Return the position in A of a city of the child, given its place in a segment.
    __device__ int place_of(int segment, int k) const {
        const int r = turn_[segment] / 2;
        const int place = turn_[segment] % 2 ? at_[r] + 1 + k : at_[next(r)] - k;
        return place >= n_ ? place - n_ : place < 0 ? place + n_ : place;
    }
    __device__ int position_of(int end) const { return wrapped(at_[end / 2] + (end & 1), n_); }

    __device__ int length(int r) const {
        const int cities = at_[next(r)] - at_[r];
        return cities > 0 ? cities : cities + n_;
    }

    // Return the cut before the longest segment.
    __device__ int longest() const {
        block::Ranked mine{0, 0};
        for (int r = threadIdx.x; r < cuts_; r += blockDim.x) {
            const block::Ranked tried{-int64_t(length(r)), uint32_t(r)};
            if (tried.before(mine)) mine = tried;
        }
        return block::argmin(mine).index;
    }

    // Follow the child from the segment after a cut: list the segments with their directions and
    // starting places. Called by one thread.
    __device__ void follow(int r) {
        int place = 0;
        bool is_forward = true;
        for (int i = 0; i < cuts_; ++i) {
            turn_[i] = 2 * r + is_forward;
            begin_[i] = place;
            place += length(r);
            const int end = link_[is_forward ? 2 * next(r) : 2 * r + 1];
            is_forward = end & 1;
            r = is_forward ? end / 2 : end == 0 ? cuts_ - 1 : end / 2 - 1;
        }
        begin_[cuts_] = place;
    }

    const int n_, cuts_;
    const int32_t *const at_, *const link_;
    int32_t *const turn_, *const begin_;
};

}  // namespace eax
