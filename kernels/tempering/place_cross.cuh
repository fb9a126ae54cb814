// Crossover of two choices of places: the child has the places that both choose, and random ones of
// those that only one of them chooses. First, the second choice is transformed by the symmetry of
// the problem that gives both the most places in common. Reads two orders whose first entries are
// chosen places, and the table of symmetries; writes such an order. Random streams: CROSS.
#pragma once

#include "core/core.cuh"
#include "tempering/plan.cuh"

namespace tempering {

class Cross {
  public:
    static constexpr bool IS_OF_PROBLEM = false;

    __device__ Cross(Scratch& scratch, const encoding::Shape& shape, const problem::Data&,
                     const algorithm::Plan& plan)
        : n_(shape.n),
          plan_(plan.chain),
          owners_(scratch.take<int32_t>(shape.n)),
          lot_(scratch.take<uint32_t>(shape.n)) {}

    // Both parents are complete on entry, and the child on return.
    __device__ void make(int32_t* child, const int32_t* mine, const int32_t* other,
                         const draw::Place& place) {
        const int chosen = plan_.chosen;
        for (int p = threadIdx.x; p < n_; p += blockDim.x) owners_[p] = 0;
        __syncthreads();
        for (int k = threadIdx.x; k < chosen; k += blockDim.x) owners_[mine[k]] = MINE;
        __syncthreads();
        const uint32_t symmetry = nearest(other);
        __syncthreads();
        for (int k = threadIdx.x; k < chosen; k += blockDim.x) {
            owners_[moved_from(other[k])[symmetry]] += OTHER;
        }
        __syncthreads();
        for (int p = threadIdx.x; p < n_; p += blockDim.x) {
            const uint4 four = place.words(stream::CROSS, p / 4);
            const uint32_t words[4] = {four.x, four.y, four.z, four.w};
            const bool is_of_one = owners_[p] == MINE || owners_[p] == OTHER;
            lot_[p] = is_of_one ? 1 + (words[p % 4] >> 1) : owners_[p] ? 0u : ~0u;
        }
        __syncthreads();
        for (int p = threadIdx.x; p < n_; p += blockDim.x) {
            int before = 0;
            for (int q = 0; q < n_; ++q)
                before += lot_[q] < lot_[p] || (lot_[q] == lot_[p] && q < p);
            child[before] = p;
        }
        __syncthreads();
    }

  private:
    static constexpr int32_t MINE = 1, OTHER = 2;

    // Return the images of a place under the symmetries.
    __device__ const uint16_t* moved_from(int32_t place) const {
        return plan_.symmetries + int64_t(place) * plan_.symmetry_count;
    }

    // Return the symmetry that maps the most places of the second parent to places of the first.
    __device__ uint32_t nearest(const int32_t* other) const {
        block::Ranked best{1, 0};
        const int count = plan_.symmetry_count;
        for (int first = threadIdx.x * block::RUN; first < count;
             first += blockDim.x * block::RUN) {
            block::Run<int32_t> common{};
            for (int k = 0; k < plan_.chosen; ++k) {
                const uint16_t* const places = moved_from(other[k]) + first;
                block::along_run([&](int c) { common.item[c] += owners_[places[c]]; });
            }
            for (int c = 0; c < block::RUN; ++c) {
                const block::Ranked found{-common.item[c], uint32_t(first + c)};
                if (found.before(best)) best = found;
            }
        }
        return block::argmin(best).index;
    }

    const int n_;
    const algorithm::PlacePlan& plan_;
    int32_t* const owners_;  // per place: the sum of MINE and OTHER, for the parents that have it
    uint32_t* const lot_;    // per place: the child has the places with the lowest numbers
};

}  // namespace tempering
