// A memetic algorithm on orders that maintains diversity: each individual is crossed with a random
// mate, and its improved child replaces only that individual, and only if no better individual is
// near. Distances are numbers of differing entries. Reads the individuals of generation g; writes
// the children to scratch memory.
// Random streams: MATES, OPERATORS, MUTATE; a crossover may use CROSS.
#pragma once

#include "algorithms/base.cuh"
#include ISLANDS_CROSSOVER

namespace algorithm {

// `apart`, `near` and `exchanges` are fractions of the number of items. Mates are crossed if they
// differ in at least `apart` entries, and in at least 4. A child is rejected if it differs from a
// better individual in fewer than `near`.
struct Plan {
    double apart, near;
    int32_t fewest;    // minimum number of random exchanges if the mate is too similar
    double exchanges;  // maximum number of these exchanges
};

class Mover : public Base<Plan> {
  public:
    __device__ Mover(const Islands& all, const Plan& plan, Scratch& scratch)
        : Base(all, plan, scratch),
          mates_{scratch.take<Gene>(2 * all.shape.pitch), all.shape.pitch},
          children_{scratch.take<Gene>(2 * all.shape.pitch), all.shape.pitch},
          apart_(max(4, items(plan.apart))),
          near_(items(plan.near)) {}

    __device__ int64_t room(const Scratch& scratch) const {
        Scratch crossing = scratch;
        const crossover::Workspace workspace(crossing, all_.shape);
        return crossing.bytes();
    }

    __device__ Gene* children(Gene*) { return children_[0]; }

    template <class Decoder>
    __device__ Gene* make(Decoder&, Scratch scratch, Gene*, const Slot& slot) {
        const int pitch = all_.shape.pitch;
        const uint4 word = slot.place.words(stream::MATES, 0);
        const int other = draw::below(word.x, all_.population - 1);
        const int mate = other < slot.slot ? other : other + 1;
        copy_row(mates_[0], before(slot, slot.slot).genes, pitch);
        copy_row(mates_[1], before(slot, mate).genes, pitch);
        copy_row(children_[0], mates_[0], pitch);  // including the padding
        __syncthreads();
        int32_t different = 0;
        for (int i = threadIdx.x; i < all_.shape.n; i += blockDim.x) {
            different += mates_[0][i] != mates_[1][i];
        }
        if (block::sum(different) < apart_) {
            const int more = max(0, items(plan_.exchanges) - plan_.fewest);
            exchange_some(plan_.fewest + draw::below(word.y, more + 1), slot);
        } else {
            const uint4 points = slot.place.words(stream::OPERATORS, 0);
            crossover::cross(scratch, mates_, children_, all_.shape, points, slot.place);
        }
        return children_[0];
    }

    // A better child replaces its parent unless a better individual is near. An individual that is
    // itself near a better one is replaced by any such child.
    __device__ bool enters(const Slot& slot, const Gene* child, int64_t cost) const {
        const Individual parent = before(slot, slot.slot);
        if (cost >= parent.cost && !is_crowded(slot, parent.genes, parent.cost, slot.slot)) {
            return false;
        }
        return !is_crowded(slot, child, cost, all_.population);
    }

  private:
    __device__ int items(double share) const { return int(share * all_.shape.n); }

    __device__ void exchange_some(int count, const Slot& slot) {
        if (threadIdx.x == 0) {
            for (int k = 0; k < count; ++k) {
                const uint4 word = slot.place.words(stream::MUTATE, k);
                const int u = draw::below(word.x, all_.shape.n),
                          v = draw::below(word.y, all_.shape.n);
                block::exchange(children_[0][u], children_[0][v]);
            }
        }
        __syncthreads();
    }

    // Return whether a better individual is near a genome. Individuals of equal cost count as
    // better if they are in the first `rank` slots; the slot itself does not count.
    __device__ bool is_crowded(const Slot& slot, const Gene* genome, int64_t cost, int rank) const {
        int32_t is_near = 0;
        for (int i = threadIdx.x; i < all_.population && !is_near; i += blockDim.x) {
            const Individual other = before(slot, i);
            if (i == slot.slot || other.cost > cost || (other.cost == cost && i >= rank)) continue;
            int different = 0;
            for (int k = 0; k < all_.shape.n && different < near_; ++k) {
                different += other.genes[k] != genome[k];
            }
            is_near = different < near_;
        }
        return block::sum(is_near) > 0;
    }

    const crossover::Pair<Gene> mates_, children_;
    const int apart_, near_;
};

}  // namespace algorithm

#include "generation.cuh"
