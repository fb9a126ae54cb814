// A genetic algorithm on islands: whole generations by the two best as parents of all, as Dantas
// and Caceres (2014) have it, or a steady state without duplicates, after Chu and Beasley (1998).
// A slot of the next generation is a rank in this one.
#pragma once

#include "operators.cuh"

#define GA_BEST 0
#define GA_TOURNAMENT 1
#define GA_PROPORTIONAL 2

namespace algorithm {

// GA_SELECTION says how parents are chosen; GA_STEADY, whether children have to be better than
// those whose place they take; GA_REFUSES, whether no child may be what is on its island already.
struct Plan {
    uint64_t crossing, mutating;  // what a word is below where children are crossed and mutated
    int32_t survivors;            // how many of the best pass on as they are
    int32_t tournament;           // how many are drawn for the best of them to be a parent
    int32_t strength;             // how often a child is mutated that is
};

// One generation of one island.
struct Past {
    const Archipelago& all;
    const int32_t* order;
    int32_t first;  // row

    __device__ Past(const Archipelago& all, const Slot& slot)
        : all(all),
          order(all.order + slot.local * all.population),
          first(all.row(slot.made - 1, slot.local, 0)) {}

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

__device__ Parents parents(const Past& past, const Plan& plan, const draw::Place& place) {
    if (GA_SELECTION == GA_BEST) return {past.order[0], past.order[1]};
    if (GA_SELECTION == GA_TOURNAMENT) return by_tournament(past, plan.tournament, place);
    return {by_fitness(past, 0, place), by_fitness(past, 1, place)};
}

class Mover : public Base<Plan> {
  public:
    static constexpr bool LAST_FIRST = true;  // the best, who are only copied, come last

    __device__ Mover(const Archipelago& all, const Plan& plan, Scratch& scratch)
        : Base(all, plan, scratch),
          mates_{scratch.take<Gene>(2 * all.shape.pitch), all.shape.pitch},
          children_{scratch.take<Gene>(2 * all.shape.pitch), all.shape.pitch} {}

    __device__ int64_t room(const Scratch& scratch) const {
        return operators_room(scratch, all_.shape);
    }

    __device__ bool passes(const Slot& slot) {
        is_twin_ = GA_REFUSES && Past(all_, slot).is_twin(slot.slot);
        return slot.slot < plan_.survivors && !is_twin_;
    }

    __device__ Individual standing(const Slot& slot) const {
        const Past past(all_, slot);
        const int holder = past.order[slot.slot];
        return {past.cost(holder), past.genes(holder)};
    }

    __device__ Gene* children(Gene*) { return children_[0]; }

    template <class Decoder>
    __device__ Gene* make(Decoder&, Scratch scratch, Gene*, const Slot& slot) {
        const encoding::Shape& shape = all_.shape;
        const Past past(all_, slot);
        // Of a whole generation, each two in a row are the children of one pair.
        const uint32_t number = slot.slot - (GA_STEADY ? 0 : plan_.survivors);
        const int side = GA_STEADY ? 0 : number % 2;
        draw::Place pair = slot.place;
        pair.individual = GA_STEADY ? number : number / 2;
        const Parents chosen = parents(past, plan_, pair);
        copy_row(mates_[0], past.genes(chosen.first), shape.pitch);
        copy_row(mates_[1], past.genes(chosen.second), shape.pitch);
        const uint4 word = pair.words(stream::OPERATORS, 0);
        __syncthreads();
        if (word.x < plan_.crossing) {
            crossover::cross(scratch, mates_, children_, shape, word, pair);
        } else {
            copy_row(children_[side], mates_[side], shape.pitch);
        }
        uint4 points = slot.place.words(stream::MUTATE, 0);
        if (points.w < plan_.mutating) {
            for (int i = 0; i < plan_.strength; ++i) {
                if (i > 0) points = slot.place.words(stream::MUTATE, i);
                mutation::mutate(scratch, children_[side], shape, points.x, points.y);
            }
        }
        return children_[side];
    }

    __device__ bool enters(const Slot& slot, const Gene* child, int64_t cost) const {
        if (!GA_STEADY) return true;
        if (!is_twin_ && cost >= standing(slot).cost) return false;
        return !GA_REFUSES || !Past(all_, slot).knows(child, cost, all_.population);
    }

  private:
    const crossover::Pair<Gene> mates_, children_;
    bool is_twin_ = false;  // whether who stands in the slot is on the island twice
};

}  // namespace algorithm

#include "generation.cuh"
