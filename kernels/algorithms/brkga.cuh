// The biased random-key genetic algorithm (Goncalves and Resende 2011), with several parents as in
// BRKGA-MP-IPR (Andrade, Toso, Goncalves and Resende 2021). One block makes and decodes one
// individual.
#pragma once

#include "core/archipelago.cuh"
#include "individual.cuh"

// BRKGA_PARENTS says how many parents a child has.
struct Brkga {
    int32_t elite, mutants, elite_parents;
    // A word at or above bias[k] means a gene from a parent later than the k-th; parents stand best
    // first.
    uint32_t bias[BRKGA_PARENTS - 1];
};

namespace brkga {

// Draws the parents' ranks, all different, ascending: elite ones first, then non-elite ones.
__device__ void parents(int (&rank)[BRKGA_PARENTS], const Brkga& plan, int population,
                        const draw::Place& place) {
    uint4 words = {};
    for (int k = 0; k < BRKGA_PARENTS; ++k) {
        if (k % 4 == 0) words = place.words(stream::PARENTS, k / 4);
        const bool elite = k < plan.elite_parents;
        const int start =
            elite ? 0 : plan.elite_parents;  // where this kind's ranks stand in `rank`
        const int left = (elite ? plan.elite : population - plan.elite) - (k - start);
        int drawn = draw::below(words.x, left) + (elite ? 0 : plan.elite);
        words = {words.y, words.z, words.w, words.x};
        int hole = start;
        for (; hole < k && rank[hole] <= drawn; ++hole) ++drawn;
        for (int i = k; i > hole; --i) rank[i] = rank[i - 1];
        rank[hole] = drawn;
    }
}

__device__ void mate(encoding::Decoder& decoder, float* row, const Archipelago& all,
                     const Brkga& plan, int local, int64_t generation, const draw::Place& place) {
    int rank[BRKGA_PARENTS];
    parents(rank, plan, all.population, place);
    const float4* parent[BRKGA_PARENTS];
    for (int k = 0; k < BRKGA_PARENTS; ++k) {
        const int individual = all.order[local * all.population + rank[k]];
        parent[k] =
            reinterpret_cast<const float4*>(all.genes_of(all.row(generation, local, individual)));
    }
    for (int quad = threadIdx.x; quad < all.shape.pitch / 4; quad += blockDim.x) {
        float4 key = parent[0][quad];
        const uint4 word = place.words(stream::MATE, quad);
        for (int k = 1; k < BRKGA_PARENTS; ++k) {
            const float4 other = parent[k][quad];
            const uint32_t bias = plan.bias[k - 1];
            key = {word.x >= bias ? other.x : key.x, word.y >= bias ? other.y : key.y,
                   word.z >= bias ? other.z : key.z, word.w >= bias ? other.w : key.w};
        }
        encoding::put(decoder, row, quad, all.shape.n, key);
    }
}

// Evaluates the child whose genes have been shown to the decoder, and improves it where it is due.
__device__ void settle(encoding::Decoder& decoder, Shelf shelf, const Archipelago& all,
                       const problem::Data& data, const improver::Plan& improving, float* keys,
                       int64_t row, int local, int slot, const draw::Place& place) {
    int64_t calls = 1;
    int64_t cost = 0;  // until the host has decoded
    if constexpr (!encoding::ON_HOST) {
        cost = individual::cost_of(decoder, shelf, all, data, decoder.finish(keys), keys, place);
        cost = individual::improved(decoder, shelf, all, data, improving, keys, cost, place, calls);
    }
    if (threadIdx.x == 0) all.cost[row] = cost;
    all.count(local, slot, calls);
}

}  // namespace brkga

// The first generation: `given[island]` individuals are there already, the others are drawn.
KERNEL(brkga_start,
       (Arena arena, Archipelago all, problem::Data data, Brkga, const int32_t* given)) {
    Shelf shelf(arena.large());
    encoding::Decoder decoder(arena, shelf, all.shape);
    for (int job = blockIdx.x; job < all.islands * all.population; job += gridDim.x) {
        const auto [local, slot] = all.individual(job);
        const int64_t row = all.row(0, local, slot);
        float* const keys = all.genes_of(row);
        const draw::Place place = all.place(local, 0, slot);
        decoder.begin();
        if (slot < given[local]) {
            encoding::count(decoder, keys, all.shape.n);
        } else {
            encoding::fill(decoder, keys, all.shape, place, stream::START);
        }
        brkga::settle(decoder, shelf, all, data, improver::never(), keys, row, local, slot, place);
    }
}

// The next generation. Jobs are dealt with the long ones first: children, mutants, then the elite,
// which is copied with its costs and never decoded again.
KERNEL(brkga_evolve,
       (Arena arena, Archipelago all, problem::Data data, Brkga plan, improver::Plan improving)) {
    Shelf shelf(arena.large());
    encoding::Decoder decoder(arena, shelf, all.shape);
    for (int job = blockIdx.x; job < all.islands * all.population; job += gridDim.x) {
        const int local = job % all.islands, slot = all.population - 1 - job / all.islands;
        const int64_t generation = all.island[local].generation;
        const bool restart = all.island[local].restart;
        const int64_t row = all.row(generation + 1, local, slot);
        float* const keys = all.genes_of(row);
        if (slot < plan.elite && !restart) {
            const int64_t from =
                all.row(generation, local, all.order[local * all.population + slot]);
            copy_row(keys, all.genes_of(from), all.shape.pitch);
            if (threadIdx.x == 0) all.cost[row] = all.cost[from];
            continue;
        }
        const draw::Place place = all.place(local, generation + 1, slot);
        decoder.begin();
        if (slot < plan.elite + plan.mutants || restart) {
            encoding::fill(decoder, keys, all.shape, place, stream::MUTANT);
        } else {
            brkga::mate(decoder, keys, all, plan, local, generation, place);
        }
        brkga::settle(decoder, shelf, all, data, improving, keys, row, local, slot, place);
    }
}
