// The children of a pair that together replace its first parent: the best one, and others that
// change other parts of the tour. Two children are compatible if they have no city at a cut in
// common, and all cuts of each are within one segment of the other; both changes together then give
// a tour, and their gains add up. All threads of a block cooperate. Reads the outcomes and records
// of the children; writes shared memory. No random numbers.
#pragma once

#include "eax/base.cuh"

namespace eax {

constexpr int MOST_CHOSEN = 32, MOST_TRIED = 48;  // children

// The chosen children have at most this many cuts, all different.
__device__ int most_cuts(int n) { return min(n, MOST_CHOSEN_CUTS); }

class Choice {
  public:
    int cuts = 0, children = 0;  // number of their cuts, and of chosen children
    int64_t gain = 0;
    int32_t* at;    // [most_cuts]: the positions of all cuts, sorted
    int32_t* link;  // [2 most_cuts]: the end that each end is joined to, as in a record

    // `all` is the number of children of a pair.
    __device__ Choice(Scratch& scratch, int n, int all)
        : at(scratch.take<int32_t>(most_cuts(n))),
          link(scratch.take<int32_t>(2 * most_cuts(n))),
          n_(n),
          all_(all),
          own_(scratch.take<int32_t>(most_cuts(n))),
          rank_(scratch.take<int32_t>(most_cuts(n))),
          negated_(scratch.take<int64_t>(block::power_of_two(all))),
          number_(scratch.take<uint32_t>(block::power_of_two(all))),
          chosen_(scratch.take<int32_t>(MOST_CHOSEN)),
          begin_(scratch.take<int32_t>(MOST_CHOSEN + 1)) {}

    // Choose among the children of a pair, best first, but do not turn A into B, which is shorter
    // by `until_b` and differs from A in `differing` edges.
    __device__ void choose(const Outcome* outcome, const Position* records, int64_t until_b,
                           int differing) {
        if (threadIdx.x == 0) begin_[0] = 0;
        // Scores are not negative, so their bits have the same order.
        for (int i = threadIdx.x; i < all_; i += blockDim.x) {
            negated_[i] = -__double_as_longlong(outcome[i].score), number_[i] = i;
        }
        __syncthreads();
        block::sort(negated_, number_, all_);
        for (int i = 0; i < min(all_, MOST_TRIED) && children < MOST_CHOSEN; ++i) {
            if (negated_[i] == 0) break;  // the others were rejected
            const int number = int(number_[i]);
            const Position* const record = records + int64_t(number) * RECORD;
            const int more = record[0];
            const int64_t total = gain + outcome[number].gain;
            const bool is_b = total == until_b && cuts + more >= differing;
            if (cuts + more > most_cuts(n_) || is_b || !fits(record)) continue;
            for (int k = threadIdx.x; k < more; k += blockDim.x) own_[cuts + k] = record[1 + k];
            cuts += more, gain = total;
            if (threadIdx.x == 0) chosen_[children] = number, begin_[children + 1] = cuts;
            ++children;
            __syncthreads();
        }
        join(records);
    }

    // Copy the choice to the memory exchanged by ranks, or back.
    __device__ void store(Chosen& to) const {
        if (threadIdx.x == 0) to.gain = gain, to.cuts = cuts, to.children = children;
        for (int i = threadIdx.x; i < cuts; i += blockDim.x) to.at[i] = Position(at[i]);
        for (int i = threadIdx.x; i < 2 * cuts; i += blockDim.x) to.link[i] = uint16_t(link[i]);
    }
    __device__ void load(const Chosen& from) {
        gain = from.gain, cuts = from.cuts, children = from.children;
        for (int i = threadIdx.x; i < cuts; i += blockDim.x) at[i] = from.at[i];
        for (int i = threadIdx.x; i < 2 * cuts; i += blockDim.x) link[i] = from.link[i];
        __syncthreads();
    }

  private:
    // Return whether a child is compatible with all chosen ones.
    __device__ bool fits(const Position* record) const {
        const int more = record[0], first = record[1];
        bool is_near = false;
        for (int i = threadIdx.x; i < children * more && !is_near; i += blockDim.x) {
            const int child = i / more, cut = record[1 + i % more];
            is_near = segment(child, first, is_near) != segment(child, cut, is_near) || is_near;
        }
        return !block::any(is_near);
    }

    // Return the number of cuts of a chosen child that are before a position.
    __device__ int cuts_before(int child, int position) const {
        return first_cut_from(own_, begin_[child], begin_[child + 1], position) - begin_[child];
    }

    // Return the segment of a chosen child that contains an edge. Set `is_near` if the edge shares
    // a city with a cut of that child.
    __device__ int segment(int child, int position, bool& is_near) const {
        const int before = cuts_before(child, position), first = begin_[child];
        const int last = begin_[child + 1] - 1, next = first + before;
        const int ahead = next <= last ? own_[next] : own_[first] + n_;
        const int behind = before > 0 ? own_[next - 1] : own_[last] - n_;
        is_near |= ahead - position <= 1 || position - behind <= 1;
        return next <= last ? before : 0;
    }

    // Sort the cuts of all children, and join their ends.
    __device__ void join(const Position* records) {
        for (int k = threadIdx.x; k < cuts; k += blockDim.x) {
            int rank = 0;
            for (int c = 0; c < children; ++c) rank += cuts_before(c, own_[k]);
            rank_[k] = rank, at[rank] = own_[k];
        }
        __syncthreads();
        for (int c = warp::index(); c < children; c += warp::count()) {
            const Position* const links = records + int64_t(chosen_[c]) * RECORD + 1 + MOST_CUTS;
            const int32_t* const rank = rank_ + begin_[c];
            for (int e = warp::lane(); e < 2 * (begin_[c + 1] - begin_[c]); e += warp::SIZE) {
                const int other = links[e];
                link[2 * rank[e / 2] + (e & 1)] = 2 * rank[other / 2] + (other & 1);
            }
        }
        __syncthreads();
    }

    const int n_, all_;
    int32_t* const own_;   // [most_cuts]: the cuts of the chosen children, one child after another
    int32_t* const rank_;  // [most_cuts]: their ranks among all cuts
    int64_t* const negated_;  // [power_of_two(all)]: negated scores, best first
    uint32_t* const number_;  // the same: the corresponding children
    int32_t* const chosen_;   // [MOST_CHOSEN]: the children
    int32_t* const begin_;    // [MOST_CHOSEN + 1]: their first cuts in `own_`
};

}  // namespace eax
