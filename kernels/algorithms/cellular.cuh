// The cellular evolutionary algorithm of PUGACE (Soca, Blengio, Pedemonte and Ezzatti 2010): each
// individual mates with one of its neighbours on a grid, and the better of two children takes its
// place. One block makes and decodes the children of one individual.
#pragma once

#include "core/archipelago.cuh"
#include "individual.cuh"
#include "neighbourhood.cuh"
#include ISLANDS_CROSSOVER
#include ISLANDS_MUTATION

#define CELLULAR_RANDOM 0
#define CELLULAR_PROPORTIONAL 1
#define CELLULAR_RELATIVE 2
#define CELLULAR_BEST 3

// CELLULAR_SELECTION says how mates are chosen; CELLULAR_GROUP, how many individuals on end share a
// coin and cuts.
struct Cellular {
    neighbourhood::Grid grid;
    uint64_t crossing, mutating;  // what a word is below where children are crossed and mutated
    int32_t strength;             // how often a child is mutated that is
    int32_t elitist;              // whether it has to be better to take its parent's place
};

namespace cellular {

using neighbourhood::Neighbour;
using neighbourhood::SIZE;

// Returns a neighbour, each the more likely the fitter it is: 1 / (1 + cost), or beyond 1 where
// costs are negative.
__device__ int by_fitness(const Neighbour* seen, uint4 word) {
    double total = 0.0;
    for (int k = 0; k < SIZE; ++k) total += seen[k].fitness;
    const uint64_t drawn = (uint64_t(word.x) << 32 | word.y) >> 11;
    const double ball = double(drawn) * (1.0 / 9007199254740992.0) * total;
    double through = 0.0;
    int passed = 0;
    for (int k = 0; k < SIZE - 1; ++k) {
        through += seen[k].fitness;
        passed += through <= ball;
    }
    return passed;
}

// Returns the neighbour that an individual mates with.
__device__ int selected(const Neighbour* seen, uint4 word) {
    if (CELLULAR_SELECTION == CELLULAR_RANDOM) return draw::below(word.x, SIZE);
    if (CELLULAR_SELECTION == CELLULAR_PROPORTIONAL) return by_fitness(seen, word);
    int first = 0;
    int64_t best = seen[0].cost, worst = best;
    for (int k = 1; k < SIZE; ++k) {
        const int64_t cost = seen[k].cost;
        if (cost < best) best = cost, first = k;
        if (cost > worst) worst = cost;
    }
    if (CELLULAR_SELECTION == CELLULAR_BEST) return first;
    // The weight of each is by how much it is better than the worst, plus one; in steps so coarse
    // that their sum has room.
    int shift = 0;
    while ((uint64_t(worst) - uint64_t(best)) >> shift >= 1ull << 48) ++shift;
    const auto weight = [&](int k) {
        return ((uint64_t(worst) - uint64_t(seen[k].cost)) >> shift) + 1;
    };
    uint64_t total = 0;
    for (int k = 0; k < SIZE; ++k) total += weight(k);
    const uint64_t ball = draw::below(uint64_t(word.x) << 32 | word.y, total);
    uint64_t through = 0;
    int passed = 0;
    for (int k = 0; k < SIZE; ++k) {
        through += weight(k);
        passed += through <= ball;
    }
    return passed;
}

using Rows = crossover::Pair<encoding::Gene>;

// What a block works with beside the decoder.
struct Desk {
    Neighbour* seen;
    uint4* word;
    Rows mates, children;  // on end

    __device__ Desk(Shelf& shelf, int pitch)
        : seen(shelf.take<Neighbour>(SIZE)),
          word(shelf.take<uint4>(2)),
          mates{shelf.take<encoding::Gene>(4 * pitch), pitch},
          children{mates.first + 2 * pitch, pitch} {}
};

// Makes the two children of an individual; they are not yet visible to all threads.
__device__ void breed(const Desk& desk, Shelf shelf, const Archipelago& all, const Cellular& plan,
                      int64_t generation, int local, int slot, const draw::Place& place) {
    const int pitch = all.shape.pitch;
    copy_row(desk.mates[0], all.genes_of(all.row(generation, local, slot)), pitch);
    for (int k = threadIdx.x; k < SIZE; k += blockDim.x) {
        Neighbour other = neighbourhood::at(plan.grid, all, generation, local, slot, k);
        const double cost = double(other.cost);
        other.fitness = cost >= 0.0 ? 1.0 / (1.0 + cost) : 1.0 - cost;
        desk.seen[k] = other;
    }
    // Neighbouring threads make both draws at once.
    for (int i = threadIdx.x; i < 2; i += blockDim.x) {
        draw::Place drawn = place;
        if (i == 1) drawn.individual = uint32_t(slot) / CELLULAR_GROUP;
        desk.word[i] = drawn.words(i == 0 ? stream::NEIGHBOUR : stream::OPERATORS, 0);
    }
    __syncthreads();
    const uint4 word = desk.word[1];
    const int chosen = selected(desk.seen, desk.word[0]);
    copy_row(desk.mates[1], desk.seen[chosen].genes, pitch);
    __syncthreads();
    if (word.x < plan.crossing) {
        crossover::cross(shelf, desk.mates, desk.children, all.shape, word, place);
    } else {
        copy_row(desk.children[0], desk.mates[0], pitch);
        copy_row(desk.children[1], desk.mates[1], pitch);
    }
    if (word.y < plan.mutating) {
        for (int i = 0; i < plan.strength; ++i) {
            const uint4 points = place.words(stream::MUTATE, i);
            mutation::mutate(shelf, desk.children[0], all.shape, points.x, points.y);
            mutation::mutate(shelf, desk.children[1], all.shape, points.z, points.w);
        }
    }
}

// Draws an individual afresh, twice the same.
__device__ void begin_again(const Desk& desk, const encoding::Shape& shape,
                            const draw::Place& place) {
    encoding::fill(desk.children[0], shape, place, stream::MUTANT);
    copy_row(desk.children[1], desk.children[0], shape.pitch);
}

}  // namespace cellular

// The first generation: `given[island]` individuals are there already, the others are drawn.
KERNEL(cellular_start,
       (Arena arena, Archipelago all, problem::Data data, Cellular, const int32_t* given)) {
    Shelf shelf(arena.large());
    encoding::Decoder decoder(arena, shelf, all.shape);
    for (int job = blockIdx.x; job < all.islands * all.population; job = next_job(job)) {
        const auto [local, slot] = all.individual(job);
        const int32_t row = all.row(0, local, slot);
        const draw::Place place = all.place(local, 0, slot);
        if (slot >= given[local]) {
            encoding::fill(all.genes_of(row), all.shape, place, stream::START);
        }
        const int64_t cost =
            individual::evaluated(decoder, shelf, all, data, all.genes_of(row), place);
        if (threadIdx.x == 0) all.cost[row] = cost;
        all.count(local, slot, 1);
    }
}

// The next generation.
KERNEL(cellular_evolve, (Arena arena, Archipelago all, problem::Data data, Cellular plan,
                         improver::Plan improving)) {
    Shelf shelf(arena.large());
    encoding::Decoder decoder(arena, shelf, all.shape);
    const cellular::Desk desk(shelf, all.shape.pitch);
    for (int job = blockIdx.x; job < all.islands * all.population; job = next_job(job)) {
        const auto [local, slot] = all.individual(job);
        const int64_t generation = all.island[local].generation;
        const int32_t row = all.row(generation + 1, local, slot);
        const draw::Place place = all.place(local, generation + 1, slot);
        const bool restarts = all.island[local].restart;
        if (restarts) {
            cellular::begin_again(desk, all.shape, place);
        } else {
            cellular::breed(desk, shelf, all, plan, generation, local, slot, place);
        }
        const auto [first, second] = individual::evaluated(
            decoder, shelf, all, data, desk.children[0], desk.children[1], place);
        const bool takes_first = first <= second;
        encoding::Gene* const child = desk.children[takes_first ? 0 : 1];
        int64_t cost = min(first, second);
        int64_t calls = restarts ? 1 : 2;
        if constexpr (improver::ACTIVE) {
            if (improver::is_due(improving, place)) {
                // The improver works on what was decoded last.
                if (takes_first) decoder.decode(child);
                cost = individual::improve(decoder, shelf, all, data, improving, child, cost, place,
                                           calls);
            }
        }
        // The better child is offered last, in the place of the other one.
        individual::offer(all, local, slot, desk.children[takes_first ? 1 : 0],
                          takes_first ? second : first);
        individual::offer(all, local, slot, child, cost);
        const int32_t parent = all.row(generation, local, slot);
        if (plan.elitist && !restarts && cost >= all.cost[parent]) {
            copy_row(all.genes_of(row), all.genes_of(parent), all.shape.pitch);
            cost = all.cost[parent];
        } else {
            copy_row(all.genes_of(row), child, all.shape.pitch);
        }
        if (threadIdx.x == 0) all.cost[row] = cost;
        all.count(local, slot, calls);
        __syncthreads();  // the children have been read
    }
}
