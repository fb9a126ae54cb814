// Improves a solution of a sparse quadratic model by parts of another one. The items in which they
// differ form connected parts without pairs between them, so each part can be exchanged
// independently: the solution takes over all parts that lower its cost. Reads the pairs of the plan
// and both solutions, and changes the first one. Uses no random numbers.
#pragma once

#include "core/atomic.cuh"
#include "genes.cuh"
#include "tempering/plan.cuh"

namespace tempering {

class FlipParts {
  public:
    // Arrays with an entry for each place, which are overwritten.
    struct Memory {
        int32_t* part;    // the first place of its part, if it differs
        int32_t* raised;  // per part: twice the change in cost due to its exchange
        int8_t* side;     // whether it is chosen
    };

    __device__ FlipParts(const Memory& memory, int n, const algorithm::FlipPlan& plan)
        : n_(n), plan_(plan), part_(memory.part), raised_(memory.raised), side_(memory.side) {}

    // Improve `mine` by the parts of `other`; return the change of its cost. Both are complete on
    // entry, and `mine` on return.
    __device__ int64_t improve(encoding::Gene* mine, const encoding::Gene* other) const {
        if (!compare(mine, other)) return 0;
        while (join()) continue;
        for (int p = threadIdx.x; p < n_; p += blockDim.x) {
            if (part_[p] != NONE) add(raised_ + part_[p], raised_by(p));
        }
        __syncthreads();
        int64_t raised = 0;
        for (int first = 32 * threadIdx.x; first < n_; first += 32 * blockDim.x) {
            uint32_t flips = 0;
            for (int i = first; i < min(first + 32, n_); ++i) {
                const int p = plan_.place[i];
                if (part_[p] == NONE || raised_[part_[p]] >= 0) continue;
                flips |= 1u << (i - first);
                if (part_[p] == p) raised += raised_[p] / 2;
            }
            mine[first / 32] ^= flips;
        }
        __syncthreads();
        return block::sum(raised);
    }

  private:
    static constexpr int32_t NONE = -1;

    // Make each differing place a separate part; return whether there are any. If most places
    // differ and complements have the same cost, compare with the complement of the other solution.
    __device__ bool compare(const encoding::Gene* mine, const encoding::Gene* other) const {
        int32_t count = 0;
        for (int i = threadIdx.x; i < n_; i += blockDim.x) {
            const int p = plan_.place[i];
            const bool differs = genes::get(mine, i) != genes::get(other, i);
            side_[p] = int8_t(genes::get(mine, i));
            part_[p] = differs ? p : NONE;
            raised_[p] = 0;
            count += differs;
        }
        count = block::sum(count);
        if (plan_.is_symmetric && 2 * count > n_) {
            for (int i = threadIdx.x; i < n_; i += blockDim.x) {
                const int p = plan_.place[i];
                part_[p] = part_[p] == NONE ? p : NONE;
            }
            count = n_ - count;
        }
        __syncthreads();
        return count > 0;
    }

    // Join neighbouring parts, numbered by their first place; return whether any were joined.
    __device__ bool join() const {
        bool joins = false;
        for (int p = threadIdx.x; p < n_; p += blockDim.x) {
            if (part_[p] == NONE) continue;
            for (int e = plan_.first[p]; e < plan_.first[p + 1]; ++e) {
                const int q = plan_.other[e];
                if (q > p || part_[q] == NONE) continue;
                const int32_t one = root(p), two = root(q);
                if (one == two) continue;
                lower(part_ + max(one, two), min(one, two));
                joins = true;
            }
        }
        __syncthreads();
        for (int p = threadIdx.x; p < n_; p += blockDim.x) {
            if (part_[p] != NONE) lower(part_ + p, root(p));
        }
        __syncthreads();
        return block::any(joins);
    }

    __device__ int32_t root(int32_t p) const {
        const volatile int32_t* const part = part_;  // other threads change it
        while (part[p] != p) p = part[p];
        return p;
    }

    // Return twice the share of a place in the change in cost due to an exchange of its part.
    __device__ int32_t raised_by(int p) const {
        int32_t field = 2 * plan_.single[p];
        for (int e = plan_.first[p]; e < plan_.first[p + 1]; ++e) {
            const int q = plan_.other[e];
            if (part_[q] != NONE) {
                field += plan_.both[e];
            } else if (side_[q]) {
                field += 2 * plan_.both[e];
            }
        }
        return side_[p] ? -field : field;
    }

    const int n_;
    const algorithm::FlipPlan& plan_;
    int32_t *const part_, *const raised_;
    int8_t* const side_;
};

}  // namespace tempering
