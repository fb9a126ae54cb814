// Resampled growth: in each generation, an island grows one batch of assignments and polishes the
// cheapest, or anneals individuals. The results replace the worst individuals. Reads generation g,
// writes g + 1.
// Random streams: those of the included files.
#pragma once

#include "core/instance.cuh"
#include "growth/batch.cuh"

#define GROWTH_KERNEL(name)                                                        \
    KERNEL_OF(512, 1, name,                                                        \
              (Arena arena, Islands all, problem::Data data, algorithm::Plan plan, \
               improver::Plan improving))

namespace growth {

// The individuals of the next generation: those of the current one, except that the polished states
// replace the worst. If there is a pattern, the second half of the slots is selected by the cost in
// it. The cheapest individual is replaced only by a cheaper one.
class Heirs {
  public:
    __device__ Heirs(Scratch& scratch, const Islands& all)
        : all_(all),
          cost_(scratch.take<int64_t>(all.population)),
          key_(scratch.take<int64_t>(all.population)),
          source_(scratch.take<int32_t>(all.population)) {}

    // Select them from generation g of an island and from the polished states.
    __device__ void choose(int local, const Growths& growths, const Plan& plan) {
        const int32_t first = all_.row(all_.island[local].generation, local, 0);
        const int middle = first_of_pattern(all_, plan);
        for (int i = threadIdx.x; i < all_.population; i += blockDim.x) {
            cost_[i] = all_.cost[first + i], source_[i] = NONE;
            key_[i] = i < middle ? cost_[i] : growths.rating(i);
        }
        __syncthreads();
        for (int rank = 0; rank < OFFERED; ++rank) {
            const int64_t cost = growths.of_rank(local, rank).cost();
            offer(rank, cost, cost, 0, middle);
            if (middle == all_.population) continue;
            offer(rank, cost, growths.rating_of_rank(local, rank), middle, all_.population);
        }
    }

    __device__ void write(int local, const Growths& growths) const {
        const int64_t now = all_.island[local].generation;
        const int32_t from = all_.row(now, local, 0), to = all_.row(now + 1, local, 0);
        for (int i = 0; i < all_.population; ++i) {
            encoding::Gene* const row = all_.genes_of(to + i);
            if (source_[i] == NONE) {
                copy_row(row, all_.genes_of(from + i), all_.shape.pitch);
            } else {
                growths.write(row, growths.of_rank(local, source_[i]));
            }
            if (threadIdx.x == 0) all_.cost[to + i] = cost_[i];
        }
        __syncthreads();
    }

  private:
    // Replace the individual with the largest key in [begin, end) by a state, if the key of the
    // state is smaller and differs from the keys of all individuals in this range.
    __device__ void offer(int rank, int64_t cost, int64_t key, int begin, int end) {
        int worst = NONE, cheapest = 0;
        bool is_new = true;
        for (int i = 0; i < all_.population; ++i)
            cheapest = cost_[i] < cost_[cheapest] ? i : cheapest;
        for (int i = begin; i < end; ++i) {
            const bool stays = i == cheapest && cost >= cost_[i];
            if (!stays && (worst == NONE || key_[i] >= key_[worst])) worst = i;
            if (key_[i] == key) is_new = false;
        }
        is_new &= worst != NONE && key < key_[worst];
        __syncthreads();
        if (is_new && threadIdx.x == 0) {
            cost_[worst] = cost, key_[worst] = key, source_[worst] = rank;
        }
        __syncthreads();
    }

    const Islands& all_;
    int64_t* const cost_;
    int64_t* const key_;     // the cost, or the cost in the pattern
    int32_t* const source_;  // the rank of a state, or NONE
};

}  // namespace growth

// Each block creates generation 0 of its islands in turn. It may include given individuals.
GROWTH_KERNEL(first_growths) {
    Scratch scratch(arena.large());
    Instance own(all, data, plan, improving);
    growth::Growths growths(scratch, all, own.plan);
    for (int local = blockIdx.x; local < all.islands; local += gridDim.x) {
        if (!all.begins(local)) continue;
        own.choose(local);
        const bool is_whole = growths.grow(local, 0, improving);
        if (!is_whole && local > 0) break;
        if (!is_whole) growths.complete_one(local);
        for (int slot = 0; slot < all.population; ++slot) {
            const int32_t row = all.row(0, local, slot);
            int64_t cost = 0;
            if (slot < all.given[local]) {
                cost = problem::cost(encoding::Order{all.genes_of(row)}, all.shape.n, own.data);
            } else {
                const growth::State state = growths.of_rank(local, slot % plan.growths);
                growths.write(all.genes_of(row), state);
                cost = state.cost();
            }
            if (threadIdx.x == 0) all.cost[row] = cost;
            // Count each individual: after a halt, those that were not counted are considered
            // missing.
            all.count(local, slot, slot == 0 ? plan.growths : 1);
            __syncthreads();
        }
    }
}

// Each block grows a batch for each of its islands in turn.
GROWTH_KERNEL(next_growths) {
    Scratch scratch(arena.large());
    Instance own(all, data, plan, improving);
    growth::Growths growths(scratch, all, own.plan);
    growth::Heirs heirs(scratch, all);
    for (int local = blockIdx.x; local < all.islands; local += gridDim.x) {
        if (all.rests(local)) continue;
        own.choose(local);
        const int64_t made = all.island[local].generation + 1;
        growths.rate(local, made);
        const bool is_whole = growths.anneals(made) ? growths.anneal(local, made, improving)
                                                    : growths.grow(local, made, improving);
        if (!is_whole) break;
        heirs.choose(local, growths, own.plan);
        heirs.write(local, growths);
        all.count(local, 0, growths.evaluated(made));
    }
}
