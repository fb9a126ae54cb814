// The cellular evolutionary algorithm of PUGACE (Soca, Blengio, Pedemonte and Ezzatti 2010). Each
// individual mates with one of its neighbours on a grid, and the better of two children replaces
// it. Reads the grid of generation g; writes the children to scratch memory.
// Random streams: NEIGHBOUR, OPERATORS, MUTATE; a crossover may use CROSS.
#pragma once

#include "mates.cuh"
#include "operators.cuh"

namespace algorithm {

struct Plan {
    neighbourhood::Grid grid;
    uint64_t crossing, mutating;  // cross or mutate if a word is below this
    // 2^64 / size of groups of consecutive individuals that share the crossover decision and the
    // cut points, rounded up; 0 for groups of one. A product is faster than a division.
    uint64_t group;
    int32_t strength;  // mutations per mutated child
    int32_t elitist;   // whether a child must be better to replace its parent
};

class Mover : public Base<Plan> {
  public:
    static constexpr int CHILDREN = 2;

    __device__ Mover(const Islands& all, const Plan& plan, Scratch& scratch)
        : Base(all, plan, scratch),
          seen_(scratch.take<neighbourhood::Neighbour>(neighbourhood::SIZE)),
          word_(scratch.take<uint4>(2)),
          mates_{scratch.take<Gene>(2 * all.shape.pitch), all.shape.pitch},
          children_{scratch.take<Gene>(2 * all.shape.pitch), all.shape.pitch} {}

    __device__ int64_t room(const Scratch& scratch) const {
        return operators_room(scratch, all_.shape);
    }

    __device__ Gene* children(Gene*) { return children_[0]; }

    template <class Decoder>
    __device__ Gene* make(Decoder&, Scratch scratch, Gene*, const Slot& slot) {
        const int pitch = all_.shape.pitch;
        copy_row(mates_[0], current(slot).genes, pitch);
        find_neighbours(slot);
        __syncthreads();
        const uint4 word = word_[1];
        const int chosen = neighbourhood::selected(seen_, word_[0]);
        copy_row(mates_[1], seen_[chosen].genes, pitch);
        __syncthreads();
        if (word.x < plan_.crossing) {
            crossover::cross(scratch, mates_, children_, all_.shape, word, slot.place);
            crossover::clear_ends(children_, all_.shape);
        } else {
            copy_row(children_[0], mates_[0], pitch);
            copy_row(children_[1], mates_[1], pitch);
        }
        if (word.y < plan_.mutating) {
            for (int i = 0; i < plan_.strength; ++i) {
                const uint4 points = slot.place.words(stream::MUTATE, i);
                mutation::mutate(scratch, children_[0], all_.shape, points.x, points.y);
                mutation::mutate(scratch, children_[1], all_.shape, points.z, points.w);
            }
        }
        return children_[0];
    }

    __device__ bool enters(const Slot& slot, const Gene*, int64_t cost) const {
        return !plan_.elitist || cost < current(slot).cost;
    }

  private:
    // Find the neighbours, and draw the words of a slot and of its group.
    __device__ void find_neighbours(const Slot& slot) const {
        for (int k = threadIdx.x; k < neighbourhood::SIZE; k += blockDim.x) {
            auto other =
                neighbourhood::at(plan_.grid, all_, slot.made - 1, slot.local, slot.slot, k);
            const double cost = real::finite(other.cost);
            other.fitness = cost >= 0.0 ? 1.0 / (1.0 + cost) : 1.0 - cost;
            seen_[k] = other;
        }
        // Neighbouring threads perform the two draws simultaneously.
        for (int i = threadIdx.x; i < 2; i += blockDim.x) {
            draw::Place drawn = slot.place;
            if (i == 1) {
                const uint32_t number = slot.slot;
                drawn.individual = plan_.group == 0 ? number : __umul64hi(plan_.group, number);
            }
            word_[i] = drawn.words(i == 0 ? stream::NEIGHBOUR : stream::OPERATORS, 0);
        }
    }

    neighbourhood::Neighbour* const seen_;
    uint4* const word_;
    const crossover::Pair<Gene> mates_, children_;
};

}  // namespace algorithm

#include "generation.cuh"
