// Random selection of individuals for migration: a block processes one island after another. Reads
// the ranks of generation g; writes indices of individuals to `drawn`.
// Random streams: SELECT, or for select_uniform the one that the host names (SELECT or REPLACE).
#pragma once

#include "core/costs.cuh"
#include "core/islands.cuh"

// Select `count` different individuals with rank `first` or worse, with equal probability, and
// write them to drawn[island][count] in the order of selection.
KERNEL(select_uniform,
       (Arena arena, Islands all, int32_t stream, int32_t first, int32_t count, int32_t* drawn)) {
    const int size = all.population - first;
    int64_t* const value = reinterpret_cast<int64_t*>(arena.large());
    uint32_t* const rank = reinterpret_cast<uint32_t*>(value + block::power_of_two(size));
    for (int me = blockIdx.x; me < all.islands; me += gridDim.x) {
        for (int i = threadIdx.x; i < size; i += blockDim.x) {
            const uint4 word = all.place(me, all.island[me].generation, first + i).words(stream, 0);
            value[i] = int64_t((uint64_t(word.x) << 32 | word.y) >> 1);
            rank[i] = first + i;
        }
        __syncthreads();
        block::sort(value, rank, size);
        for (int i = threadIdx.x; i < count; i += blockDim.x) {
            drawn[int64_t(me) * count + i] = all.order[me * all.population + rank[i]];
        }
        __syncthreads();
    }
}

namespace selection {

// The weights of a roulette wheel: the advantage of each rank over the worst, rounded so that their
// sum over a population fits into 64 bits.
struct Wheel {
    const int64_t* cost;
    const int32_t* order;
    int64_t best, worst;
    int shift;

    __device__ Wheel(const Islands& all, int me)
        : cost(all.cost + all.row(all.island[me].generation, me, 0)),
          order(all.order + me * all.population),
          best(cost[order[0]]),
          worst(cost[order[all.population - 1]]),
          shift(0) {
        const uint64_t range = uint64_t(worst) - uint64_t(best);
        while (range >> shift >= 1ull << 31) ++shift;
    }

    __device__ int64_t weight(int rank) const {
        const int64_t own = cost[order[rank]];
        if (COSTS_REAL) return int64_t(real::advantage(own, best, worst, 31)) + 1;
        return int64_t((uint64_t(worst) - uint64_t(own)) >> shift) + 1;
    }
};

}  // namespace selection

// Select `count` different individuals, with higher probability for lower cost (roulette wheel).
KERNEL(select_roulette, (Islands all, int32_t count, int32_t* drawn)) {
    const int me = blockIdx.x, size = all.population;
    const selection::Wheel wheel(all, me);
    int32_t* const selected = drawn + int64_t(me) * count;
    for (int k = 0; k < count; ++k) {
        // `selected` contains the ranks already selected; they are replaced by individuals at the
        // end.
        const auto weight_up_to = [&](int last) {
            int64_t weight = 0;
            for (int i = threadIdx.x; i <= last; i += blockDim.x) weight += wheel.weight(i);
            for (int i = threadIdx.x; i < k; i += blockDim.x) {
                if (selected[i] <= last) weight -= wheel.weight(selected[i]);
            }
            return block::sum(weight);
        };
        const draw::Place place = all.place(me, all.island[me].generation, k);
        const uint4 word = place.words(stream::SELECT, 0);
        const int64_t ball = draw::below(uint64_t(word.x) << 32 | word.y, weight_up_to(size - 1));
        int low = 0, high = size - 1;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (weight_up_to(middle) > ball) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        if (threadIdx.x == 0) selected[k] = low;
        __syncthreads();
    }
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        selected[i] = all.order[me * size + selected[i]];
    }
}
