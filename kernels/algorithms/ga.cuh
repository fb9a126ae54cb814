// A genetic algorithm on islands: whole generations by the two best as parents of all, as Dantas
// and Caceres (2014) have it, or a steady state without duplicates, after Chu and Beasley (1998).
// One block makes and judges one individual of the next generation, whose slot is a rank in this
// one.
#pragma once

#include "core/archipelago.cuh"
#include "individual.cuh"
#include ISLANDS_CROSSOVER
#include ISLANDS_MUTATION

#define GA_BEST 0
#define GA_TOURNAMENT 1
#define GA_PROPORTIONAL 2

// GA_SELECTION says how parents are chosen; GA_STEADY, whether children have to be better than
// those whose place they take; GA_REFUSES, whether no child may be what is on its island already.
struct Ga {
    uint64_t crossing, mutating;  // what a word is below where children are crossed and mutated
    int32_t survivors;            // how many of the best pass on as they are
    int32_t tournament;           // how many are drawn for the best of them to be a parent
    int32_t strength;             // how often a child is mutated that is
};

namespace ga {

using Rows = crossover::Pair<encoding::Gene>;

// One generation of one island.
struct Past {
    const Archipelago& all;
    const int32_t* order;
    int32_t first;  // row

    __device__ Past(const Archipelago& all, int local, int64_t generation)
        : all(all),
          order(all.order + local * all.population),
          first(all.row(generation, local, 0)) {}

    __device__ int64_t cost(int slot) const { return all.cost[first + slot]; }
    __device__ encoding::Gene* genes(int slot) const { return all.genes_of(first + slot); }

    // Whether a genome is that of one of the `count` best.
    __device__ bool knows(const encoding::Gene* genome, int64_t its_cost, int count) const {
        int low = 0, high = count;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (cost(order[middle]) < its_cost) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        int32_t found = 0;
        for (int rank = low + threadIdx.x; rank < count; rank += blockDim.x) {
            if (cost(order[rank]) != its_cost) break;
            found |= is_same(genome, genes(order[rank]));
        }
        return block::sum(found) > 0;
    }

    // Whether an individual is the same as a better one, or as one with a lower index.
    __device__ bool is_twin(int rank) const {
        if (rank == 0) return false;
        const int64_t mine = cost(order[rank]);
        return cost(order[rank - 1]) == mine && knows(genes(order[rank]), mine, rank);
    }

  private:
    __device__ bool is_same(const encoding::Gene* one, const encoding::Gene* other) const {
        int i = 0;
        while (i < all.shape.n && one[i] == other[i]) ++i;
        return i == all.shape.n;
    }
};

struct Parents {
    int first, second;  // slots
};

// Returns two different individuals, each the best of so many.
__device__ Parents by_tournament(const Past& past, int tournament, const draw::Place& place) {
    const uint32_t others = past.all.population - 1;
    uint32_t one = others, other = others;
    for (int k = 0; k < tournament; ++k) {
        const uint4 word = place.words(stream::MATES, k);
        const uint32_t a = draw::below(word.x, others + 1), b = draw::below(word.y, others);
        if (a < one) one = a;
        if (b < other) other = b;
    }
    return {past.order[one], past.order[other < one ? other : other + 1]};
}

// Returns an individual, each the more likely by how much it is better than the worst. One after
// another is drawn and taken by a coin of its own; the best would always be.
__device__ int by_fitness(const Past& past, uint32_t first_quad, const draw::Place& place) {
    const int size = past.all.population;
    const uint64_t worst = past.cost(past.order[size - 1]);
    const uint64_t range = worst - uint64_t(past.cost(past.order[0])) + 1;
    for (uint32_t quad = first_quad;; quad += 2) {
        const uint4 word = place.words(stream::MATES, quad);
        const int slot = draw::below(word.x, size);
        const uint64_t ball = draw::below(uint64_t(word.z) << 32 | word.w, range);
        if (ball <= worst - uint64_t(past.cost(slot))) return slot;
    }
}

__device__ Parents parents(const Past& past, const Ga& plan, const draw::Place& place) {
    if (GA_SELECTION == GA_BEST) return {past.order[0], past.order[1]};
    if (GA_SELECTION == GA_TOURNAMENT) return by_tournament(past, plan.tournament, place);
    return {by_fitness(past, 0, place), by_fitness(past, 1, place)};
}

// Makes a child and returns it; it is not yet visible to all threads.
__device__ encoding::Gene* breed(const Rows& mates, const Rows& children, Shelf shelf,
                                 const Past& past, const Ga& plan, const draw::Place& place) {
    const encoding::Shape& shape = past.all.shape;
    // Of a whole generation, each two in a row are the children of one pair.
    const uint32_t number = place.individual - (GA_STEADY ? 0 : plan.survivors);
    const int side = GA_STEADY ? 0 : number % 2;
    draw::Place pair = place;
    pair.individual = GA_STEADY ? number : number / 2;
    const Parents chosen = parents(past, plan, pair);
    copy_row(mates[0], past.genes(chosen.first), shape.pitch);
    copy_row(mates[1], past.genes(chosen.second), shape.pitch);
    const uint4 word = pair.words(stream::OPERATORS, 0);
    __syncthreads();
    if (word.x < plan.crossing) {
        crossover::cross(shelf, mates, children, shape, word, pair);
    } else {
        copy_row(children[side], mates[side], shape.pitch);
    }
    uint4 points = place.words(stream::MUTATE, 0);
    if (points.w < plan.mutating) {
        for (int i = 0; i < plan.strength; ++i) {
            if (i > 0) points = place.words(stream::MUTATE, i);
            mutation::mutate(shelf, children[side], shape, points.x, points.y);
        }
    }
    return children[side];
}

}  // namespace ga

// The first generation: `given[island]` individuals are there already, the others are drawn.
KERNEL(ga_start, (Arena arena, Archipelago all, problem::Data data, Ga, const int32_t* given)) {
    Shelf shelf(arena.large());
    encoding::Decoder decoder(arena, shelf, all.shape);
    for (int job = blockIdx.x; job < all.islands * all.population; job += gridDim.x) {
        const auto [local, slot] = all.individual(job);
        const int32_t row = all.row(0, local, slot);
        encoding::Gene* const genes = all.genes_of(row);
        const draw::Place place = all.place(local, 0, slot);
        if (slot >= given[local]) encoding::fill(genes, all.shape, place, stream::START);
        const int64_t cost = individual::evaluated(decoder, shelf, all, data, genes, place);
        if (threadIdx.x == 0) all.cost[row] = cost;
        all.count(local, slot, 1);
    }
}

// The next generation. Children come first, as they take longer than who passes on.
KERNEL(ga_evolve,
       (Arena arena, Archipelago all, problem::Data data, Ga plan, improver::Plan improving)) {
    Shelf shelf(arena.large());
    encoding::Decoder decoder(arena, shelf, all.shape);
    const int pitch = all.shape.pitch;
    const ga::Rows mates{shelf.take<encoding::Gene>(2 * pitch), pitch};
    const ga::Rows children{shelf.take<encoding::Gene>(2 * pitch), pitch};
    for (int job = blockIdx.x; job < all.islands * all.population; job += gridDim.x) {
        const int nth = uint32_t(job) / all.islands, local = job - nth * all.islands;
        const int slot = all.population - 1 - nth;
        const int64_t generation = all.island[local].generation;
        const bool restarts = all.island[local].restart;
        const ga::Past past(all, local, generation);
        const int holder = past.order[slot];
        const int32_t row = all.row(generation + 1, local, slot);
        const bool is_twin = GA_REFUSES && !restarts && past.is_twin(slot);
        if (slot < plan.survivors && !restarts && !is_twin) {
            copy_row(all.genes_of(row), past.genes(holder), pitch);
            if (threadIdx.x == 0) all.cost[row] = past.cost(holder);
            continue;
        }
        const draw::Place place = all.place(local, generation + 1, slot);
        encoding::Gene* child = children[0];
        if (restarts) {
            encoding::fill(child, all.shape, place, stream::MUTANT);
        } else {
            child = ga::breed(mates, children, shelf, past, plan, place);
        }
        int64_t calls = 1;
        int64_t cost = individual::evaluated(decoder, shelf, all, data, child, place);
        cost =
            individual::improved(decoder, shelf, all, data, improving, child, cost, place, calls);
        individual::offer(all, local, slot, child, cost);
        bool enters = true;
        if (GA_STEADY && !restarts) {
            enters = is_twin || cost < past.cost(holder);
            if (GA_REFUSES && enters) enters = !past.knows(child, cost, all.population);
        }
        copy_row(all.genes_of(row), enters ? child : past.genes(holder), pitch);
        if (threadIdx.x == 0) all.cost[row] = enters ? cost : past.cost(holder);
        all.count(local, slot, calls);
        __syncthreads();  // the child has been read
    }
}
