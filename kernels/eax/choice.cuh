// The children of a pair that replace its first parent together: the best one, and others that
// change other parts of the tour. Two children do not interfere if they have no city at a cut in
// common, and all cuts of each are in one segment of the other; as each of them is a tour, that of
// both is one too, and their gains add up.
// All threads of a block work together. Reads the outcomes and records of the children; writes
// memory of the block. No random numbers.
#pragma once

#include "eax/base.cuh"

namespace eax {

constexpr int MOST_CHOSEN = 8, MOST_TRIED = 12;  // children

class Choice {
  public:
    int cuts = 0, children = 0;  // of those chosen
    int64_t gain = 0;
    int32_t* at;    // [MOST_CUTS]: the positions of all cuts in their order
    int32_t* link;  // [2 MOST_CUTS]: the end that each end is joined to, as in a record

    __device__ Choice(Scratch& scratch, int n)
        : at(scratch.take<int32_t>(MOST_CUTS)),
          link(scratch.take<int32_t>(2 * MOST_CUTS)),
          n_(n),
          own_(scratch.take<int32_t>(MOST_CUTS)),
          rank_(scratch.take<int32_t>(MOST_CUTS)) {}

    // Choose among the children of a pair, best first, but not so that A becomes B, which is
    // shorter by `until_b` and differs in this number of edges.
    __device__ void choose(const Outcome* outcome, const Position* records, int number,
                           int64_t until_b, int differing) {
        block::Ranked last{block::Least<int64_t>::NONE, 0};
        for (int tried = 0; tried < MOST_TRIED && children < MOST_CHOSEN; ++tried) {
            last = next_best(outcome, number, tried, last);
            if (last.value == 0) break;  // the others are refused
            const Position* const record = records + int64_t(last.index) * RECORD;
            const int more = record[0];
            const int64_t whole = gain + outcome[last.index].gain;
            const bool is_b = whole == until_b && cuts + more >= differing;
            if (cuts + more <= MOST_CUTS && !is_b && fits(record)) {
                numbers_[children] = int(last.index);
                begin_[children++] = cuts;
                cuts += more, gain = whole;
            }
            __syncthreads();  // all have compared the cuts of this child
        }
        begin_[children] = cuts;
        join(records);
    }

  private:
    // Return the best child after the last one: scores are not negative, so that their bits have
    // the same order.
    __device__ static block::Ranked next_best(const Outcome* outcome, int number, int tried,
                                              const block::Ranked& last) {
        block::Ranked best{0, 0};
        for (int i = threadIdx.x; i < number; i += blockDim.x) {
            const block::Ranked child{-__double_as_longlong(outcome[i].score), uint32_t(i)};
            if ((tried == 0 || last.before(child)) && child.before(best)) best = child;
        }
        return block::argmin(best);
    }

    // Copy the cuts of a child behind those of the chosen ones, and return whether it interferes
    // with none of them.
    __device__ bool fits(const Position* record) {
        const int more = record[0], first = record[1];
        for (int i = threadIdx.x; i < more; i += blockDim.x) own_[cuts + i] = record[1 + i];
        bool is_near = false;
        for (int c = 0; c < children; ++c) {
            const int gap = segment(c, first, is_near);
            for (int i = threadIdx.x; i < more; i += blockDim.x) {
                const int other = segment(c, record[1 + i], is_near);
                is_near |= other != gap;
            }
        }
        return !block::any(is_near);
    }

    __device__ int end(int child) const { return child + 1 < children ? begin_[child + 1] : cuts; }

    // Return the number of cuts of a chosen child that are before a position.
    __device__ int cuts_before(int child, int position) const {
        return first_cut_from(own_, begin_[child], end(child), position) - begin_[child];
    }

    // Return the segment of a chosen child in which an edge is. `is_near` becomes true if they have
    // a city in common.
    __device__ int segment(int child, int position, bool& is_near) const {
        const int before = cuts_before(child, position), first = begin_[child];
        const int last = end(child) - 1, next = first + before;
        const int ahead = next <= last ? own_[next] : own_[first] + n_;
        const int behind = before > 0 ? own_[next - 1] : own_[last] - n_;
        is_near |= ahead - position <= 1 || position - behind <= 1;
        return next <= last ? before : 0;
    }

    // Order the cuts of all children, and join their ends.
    __device__ void join(const Position* records) {
        for (int c = 0; c < children; ++c) {
            for (int k = begin_[c] + threadIdx.x; k < begin_[c + 1]; k += blockDim.x) {
                int rank = k - begin_[c];
                for (int other = 0; other < children; ++other) {
                    if (other != c) rank += cuts_before(other, own_[k]);
                }
                rank_[k] = rank, at[rank] = own_[k];
            }
        }
        __syncthreads();
        for (int c = 0; c < children; ++c) {
            const Position* const links = records + int64_t(numbers_[c]) * RECORD + 1 + MOST_CUTS;
            for (int e = threadIdx.x; e < 2 * (begin_[c + 1] - begin_[c]); e += blockDim.x) {
                const int other = links[e];
                const int one = 2 * rank_[begin_[c] + e / 2] + (e & 1);
                link[one] = 2 * rank_[begin_[c] + other / 2] + (other & 1);
            }
        }
        __syncthreads();
    }

    const int n_;
    int32_t* const own_;   // [MOST_CUTS]: the positions of the cuts of one child after another
    int32_t* const rank_;  // [MOST_CUTS]: their places in the order of all
    int numbers_[MOST_CHOSEN], begin_[MOST_CHOSEN + 1];  // of each: its number and its first cut
};

}  // namespace eax
