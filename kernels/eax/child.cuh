// A child of a pair of parents: the first parent with the edges of an E-set exchanged, and its
// sub-tours merged. An E-set is one AB-cycle (phase SINGLE), or one plus all smaller ones with
// edges in its small sub-tours (phase BLOCK; Nagata 2006). All threads of a block cooperate. Reads
// the pair and its AB-cycles; returns the outcome and writes the cuts of the child. No random
// numbers: the caller draws those of an E-set.
#pragma once

#include "eax/frequencies.cuh"
#include "eax/merging.cuh"

namespace eax {

constexpr int MOST_ADDED = 48;  // AB-cycles of an E-set besides the first one

// Children with a long AB-cycle, many sub-tours, or many cities in sub-tours are heavy: they take
// long, so larger blocks create them, after the light ones and only if they are promising.
constexpr int LONG_CYCLE = 48;    // edges of A
constexpr int MOST_LIGHT = 4;     // sub-tours
constexpr int HEAVY_CITIES = 30;  // in all sub-tours but the largest, with at most LARGE of each
constexpr int LARGE = 400;
// Children with more sub-tours than this are rejected, as all other pairs would wait for the
// merging. The limit is higher in phase BLOCK, where children with many sub-tours are better if
// many tours are equally long, as on grids.
constexpr int MOST_SUB_TOURS = 8, MOST_IN_BLOCK = 32;

class Child {
  public:
    __device__ Child(const Islands& all, const Plan& plan, const problem::Data& data,
                     const Pair& pair, const Cycles& cycles, Scratch& scratch)
        : all_(all),
          plan_(plan),
          data_(data),
          pair_(pair),
          cycles_(cycles),
          tours_(scratch, all.shape.n),
          added_(scratch.take<uint16_t>(MOST_ADDED)),
          merge_(scratch.take<Merge>(1)),
          candidates_(scratch.take<Candidate>(warp::count() * CANDIDATES_OF_WARP)) {}

    // Create the child whose E-set starts with a cycle; a non-zero `mask` leaves out some of the
    // cycles to add. Return the gain of the E-set, before sub-tours are merged.
    __device__ int64_t make(int cycle, uint32_t mask, bool is_block) {
        is_found_ = false;
        tours_.cuts = 0;
        tours_.add(cycles_.of(cycle), cycles_.edges(cycle));
        if (is_block) {
            tours_.find();
            is_found_ = tours_.count == 1 || !complete(cycle, mask);
        }
        return gain();
    }

    // Find the sub-tours; return whether they can be merged.
    __device__ bool find(bool is_block) {
        if (!is_found_) tours_.find();
        return tours_.count <= (is_block ? MOST_IN_BLOCK : MOST_SUB_TOURS);
    }

    // Return the score of the unmerged child if the E-set shortens the tour by `gain`.
    __device__ double promise(int64_t gain) const {
        return plan_.by_entropy ? double(gain) / loss_of_entropy() : double(gain);
    }

    // Return whether merging the sub-tours is slow.
    __device__ bool is_heavy() const {
        int mine = 0, most = 0;
        for (int i = threadIdx.x; i < tours_.cuts; i += blockDim.x) {
            const int cities = min(LARGE, tours_.size[i]);
            mine += cities, most = max(most, cities);
        }
        const int all = block::sum(mine);
        const block::Ranked largest = block::argmin({-int64_t(most), 0});
        return tours_.count > MOST_LIGHT || all + int(largest.value) > HEAVY_CITIES;
    }

    // Merge the sub-tours of a child whose E-set gains `gain`, and return the outcome. Reject a
    // child that equals B, which differs from A in `edges` edges.
    __device__ Outcome finish(int64_t gain, int edges) {
        Merging merging(pair_, plan_.near, data_, tours_, merge_, candidates_);
        const int64_t total = merging.run(gain);
        const bool is_b = pair_.cost_a - total == pair_.cost_b && tours_.cuts >= edges;
        if (total <= 0 || is_b) return {0.0, 0};
        return {promise(total), total};
    }

    // Write the sorted cuts and the ends that they are joined to, numbered by rank.
    __device__ void store(Position* record) {
        uint16_t* const rank = reinterpret_cast<uint16_t*>(tours_.temporary);
        for (int r = threadIdx.x; r < tours_.cuts; r += blockDim.x)
            rank[tours_.id[r]] = uint16_t(r);
        __syncthreads();
        for (int r = threadIdx.x; r < tours_.cuts; r += blockDim.x) {
            record[1 + r] = tours_.at[r];
            for (int side = 0; side < 2; ++side) {
                const int other = tours_.link[2 * tours_.id[r] + side];
                record[1 + MOST_CUTS + 2 * r + side] = Position(2 * rank[other / 2] + (other & 1));
            }
        }
        if (threadIdx.x == 0) record[0] = Position(tours_.cuts);
    }

  private:
    __device__ int city(int end) const { return pair_.order_a[tours_.position_of(end)]; }
    __device__ int64_t length(int one, int other) const {
        return problem::distance(data_, tours_.n, problem::city(data_, tours_.n, one),
                                 problem::city(data_, tours_.n, other));
    }

    __device__ int64_t gain() const {
        int64_t mine = 0;
#pragma unroll 4
        for (int e = threadIdx.x; e < 2 * tours_.cuts; e += blockDim.x) {
            const int other = tours_.link[e], here = city(e);
            if (other > e) mine -= length(here, city(other));
            if (e & 1) mine += length(here, city(e - 1));
        }
        return block::sum(mine);
    }

    // Return the loss of edge entropy of the island if the child replaces its parent: at least a
    // tiny positive number, so that children without loss have the highest scores.
    __device__ double loss_of_entropy() const {
        const Frequencies frequencies(plan_, pair_.local, tours_.n);
        const int32_t* const entropy = plan_.entropy;
        int mine = 0;
#pragma unroll 4
        for (int e = threadIdx.x; e < 2 * tours_.cuts; e += blockDim.x) {
            const int other = tours_.link[e], here = city(e);
            if (other > e) {
                const int before = frequencies.of(here, city(other), 0);
                mine += entropy[before] - entropy[before + 1];
            }
            if (e & 1) {
                const int before = max(1, frequencies.of(here, city(e - 1), 1));
                mine += entropy[before] - entropy[before - 1];
            }
        }
        const double least = 1e-8, loss = block::sum(mine) / 16777216.0;
        return loss < least ? least : loss;
    }

    // Add the cycles that are smaller than the first one and have an edge of A inside a sub-tour
    // other than the largest; bits of `mask` may exclude some. Return whether any was added.
    __device__ bool complete(int cycle, uint32_t mask) {
        block::Ranked mine{0, 0xffffffffu};
        for (int r = threadIdx.x; r < tours_.cuts; r += blockDim.x) {
            const block::Ranked tried{-int64_t(tours_.size[r]), uint32_t(r)};
            if (tried.before(mine)) mine = tried;
        }
        const int largest = block::argmin(mine).index;
        const uint16_t* const owner = plan_.owner + pair_.index * all_.shape.pitch;
        uint32_t* const is_near = reinterpret_cast<uint32_t*>(tours_.temporary);
        for (int i = threadIdx.x; i < MOST_CYCLES / 32; i += blockDim.x) is_near[i] = 0;
        __syncthreads();
        for (int r = 0; r < tours_.cuts; ++r) {
            if (tours_.tour_behind(r) == largest) continue;
            // The edge after the last city of a segment is cut.
            const int begin = int(tours_.at[r]) + 1, count = tours_.length(r) - 1;
            for (int first = threadIdx.x; first < count; first += READS_AT_ONCE * blockDim.x) {
                int other[READS_AT_ONCE];
#pragma unroll
                for (int k = 0; k < READS_AT_ONCE; ++k) {
                    const int position = begin + min(first + k * int(blockDim.x), count - 1);
                    other[k] = owner[position < tours_.n ? position : position - tours_.n];
                }
#pragma unroll
                for (int k = 0; k < READS_AT_ONCE; ++k) {
                    if (other[k] == NO_CYCLE) continue;
                    if (cycles_.edges(other[k]) >= cycles_.edges(cycle)) continue;
                    set_bits(&is_near[other[k] / 32], 1u << (other[k] % 32));
                }
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) choose(mask, is_near);
        __syncthreads();
        const int count = added_[0];
        for (int i = 1; i <= count; ++i)
            tours_.add(cycles_.of(added_[i]), cycles_.edges(added_[i]));
        return count > 0;
    }

    // List the cycles to add whose cuts fit. Called by one thread.
    __device__ void choose(uint32_t mask, const uint32_t* is_near) {
        int count = 0, cuts = tours_.cuts;
        for (int i = 0; i < cycles_.count() && count + 1 < MOST_ADDED; ++i) {
            const uint32_t turned = (mask ^ i * 0x9E3779B1u) * 0x85EBCA77u;
            const bool is_left_out = mask != 0 && turned >> 31;
            const bool fits = cuts + cycles_.edges(i) <= MOST_EDGES;
            if (!(is_near[i / 32] >> (i % 32) & 1) || is_left_out || !fits) continue;
            added_[++count] = uint16_t(i);
            cuts += cycles_.edges(i);
        }
        added_[0] = uint16_t(count);
    }

    const Islands& all_;
    const Plan& plan_;
    const problem::Data& data_;
    const Pair& pair_;
    const Cycles& cycles_;
    SubTours tours_;
    bool is_found_ = false;  // whether the sub-tours are known
    uint16_t* const added_;
    Merge* const merge_;
    Candidate* const candidates_;
};

}  // namespace eax
