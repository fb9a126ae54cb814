// A genetic algorithm on islands: generational, with the two best individuals as the parents of all
// (Dantas and Caceres 2014), or steady-state without duplicates (Chu and Beasley 1998). A slot of
// the next generation corresponds to a rank in the current one. Reads the individuals and ranks of
// generation g; writes the children to scratch memory.
// Random streams: MATES, OPERATORS, MUTATE; a crossover may use CROSS.
#pragma once

#include "core/costs.cuh"
#include "operators.cuh"

#define GA_BEST 0
#define GA_TOURNAMENT 1
#define GA_PROPORTIONAL 2

namespace algorithm {

// GA_SELECTION: parent selection. A macro, as a run-time setting would make the CPU 15 % slower.
struct Plan {
    uint64_t crossing, mutating;  // crossover, or mutation, if a random word is less
    int32_t survivors;            // number of best individuals copied unchanged
    int32_t tournament;           // number of candidates per parent; the best is selected
    int32_t strength;             // mutations per mutated child
    int32_t steady;               // whether a child must be better than what it replaces
    int32_t rejects;              // whether duplicates of individuals on the island are rejected
};

// The previous generation of one island.
struct Previous {
    const Islands& all;
    const int32_t* order;
    int32_t first;  // row of its first individual

    __device__ Previous(const Islands& all, const Slot& slot)
        : all(all),
          order(all.order + slot.local * all.population),
          first(all.row(slot.made - 1, slot.local, 0)) {}

    __device__ int64_t cost(int slot) const { return all.cost[first + slot]; }
    __device__ encoding::Gene* genes(int slot) const { return all.genes_of(first + slot); }

    // Return whether a genome is among the `count` best.
    __device__ bool contains(const encoding::Gene* genome, int64_t its_cost, int count) const {
        int low = 0, high = count;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (cost(order[middle]) < its_cost) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        int32_t is_found = 0;
        for (int rank = low + threadIdx.x; rank < count; rank += blockDim.x) {
            if (cost(order[rank]) != its_cost) break;
            is_found |= is_same(genome, genes(order[rank]));
        }
        return block::sum(is_found) > 0;
    }

    // Return whether an individual equals a better one, or one of equal cost with a lower index.
    __device__ bool is_duplicate(int rank) const {
        if (rank == 0) return false;
        const int64_t its_cost = cost(order[rank]);
        return cost(order[rank - 1]) == its_cost && contains(genes(order[rank]), its_cost, rank);
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

// Return two different individuals, each the winner of a tournament of `tournament` candidates.
__device__ Parents by_tournament(const Previous& previous, int tournament,
                                 const draw::Place& place) {
    const uint32_t others = previous.all.population - 1;
    uint32_t one = others, other = others;
    for (int k = 0; k < tournament; ++k) {
        const uint4 word = place.words(stream::MATES, k);
        const uint32_t a = draw::below(word.x, others + 1), b = draw::below(word.y, others);
        if (a < one) one = a;
        if (b < other) other = b;
    }
    return {previous.order[one], previous.order[other < one ? other : other + 1]};
}

// Return an individual with probability proportional to its advantage over the worst, by rejection
// sampling; the best would always be accepted.
__device__ int by_fitness(const Previous& previous, uint32_t first_quad, const draw::Place& place) {
    const int size = previous.all.population;
    const int64_t best = previous.cost(previous.order[0]);
    const int64_t worst = previous.cost(previous.order[size - 1]);
    const auto advantage = [&](int64_t cost) {
        return COSTS_REAL ? real::advantage(cost, best, worst, 53)
                          : uint64_t(worst) - uint64_t(cost);
    };
    const uint64_t range = advantage(best) + 1;
    for (uint32_t quad = first_quad;; quad += 2) {
        const uint4 word = place.words(stream::MATES, quad);
        const int slot = draw::below(word.x, size);
        const uint64_t level = draw::below(uint64_t(word.z) << 32 | word.w, range);
        if (level <= advantage(previous.cost(slot))) return slot;
    }
}

__device__ Parents parents(const Previous& previous, const Plan& plan, const draw::Place& place) {
    if (GA_SELECTION == GA_BEST) return {previous.order[0], previous.order[1]};
    if (GA_SELECTION == GA_TOURNAMENT) return by_tournament(previous, plan.tournament, place);
    return {by_fitness(previous, 0, place), by_fitness(previous, 1, place)};
}

class Mover : public Base<Plan> {
  public:
    static constexpr bool LAST_FIRST = true;  // the best, which are only copied, come last

    __device__ Mover(const Islands& all, const Plan& plan, Scratch& scratch)
        : Base(all, plan, scratch),
          mates_{scratch.take<Gene>(2 * all.shape.pitch), all.shape.pitch},
          children_{scratch.take<Gene>(2 * all.shape.pitch), all.shape.pitch} {}

    __device__ int64_t room(const Scratch& scratch) const {
        return operators_room(scratch, all_.shape);
    }

    __device__ bool passes(const Slot& slot) {
        is_duplicate_ = plan_.rejects && Previous(all_, slot).is_duplicate(slot.slot);
        return slot.slot < plan_.survivors && !is_duplicate_;
    }

    __device__ Individual current(const Slot& slot) const {
        const Previous previous(all_, slot);
        const int holder = previous.order[slot.slot];
        return {previous.cost(holder), previous.genes(holder)};
    }

    __device__ Gene* children(Gene*) { return children_[0]; }

    template <class Decoder>
    __device__ Gene* make(Decoder&, Scratch scratch, Gene*, const Slot& slot) {
        const encoding::Shape& shape = all_.shape;
        const Previous previous(all_, slot);
        // In the generational scheme, two consecutive slots are the children of one pair.
        const uint32_t number = slot.slot - (plan_.steady ? 0 : plan_.survivors);
        const int side = plan_.steady ? 0 : number % 2;
        draw::Place pair = slot.place;
        pair.individual = plan_.steady ? number : number / 2;
        const Parents chosen = parents(previous, plan_, pair);
        copy_row(mates_[0], previous.genes(chosen.first), shape.pitch);
        copy_row(mates_[1], previous.genes(chosen.second), shape.pitch);
        const uint4 word = pair.words(stream::OPERATORS, 0);
        __syncthreads();
        if (word.x < plan_.crossing) {
            crossover::cross(scratch, mates_, children_, shape, word, pair);
            crossover::clear_ends(children_, shape);
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
        if (!plan_.steady) return true;
        if (!is_duplicate_ && cost >= current(slot).cost) return false;
        return !plan_.rejects || !Previous(all_, slot).contains(child, cost, all_.population);
    }

  private:
    const crossover::Pair<Gene> mates_, children_;
    bool is_duplicate_ = false;  // whether the current individual is a duplicate
};

}  // namespace algorithm

#include "generation.cuh"
