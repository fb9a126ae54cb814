// The biased random-key genetic algorithm (Goncalves and Resende 2011), with several parents as in
// BRKGA-MP-IPR (Andrade, Toso, Goncalves and Resende 2021). Copies the elite, draws the mutants,
// and creates the rest by mating. Reads the genes and ranks of generation g. Writes a child
// directly to its row and passes its keys to the decoder at the same time. Random streams: PARENTS,
// MATE, MUTANT.
#pragma once

#include "algorithms/base.cuh"

namespace algorithm {

// BRKGA_PARENTS is the number of parents of a child.
struct Plan {
    int32_t elite, mutants, elite_parents;
    // A gene comes from a parent after the k-th if its random word is at least bias[k]. Parents are
    // sorted, best first.
    uint32_t bias[BRKGA_PARENTS - 1];
};

class Mover : public Base<Plan> {
  public:
    static constexpr bool LAST_FIRST = true;  // the elite, which is only copied, comes last
    static constexpr bool KEEPS_ALL = true;

    using Base::Base;

    __device__ bool passes(const Slot& slot) { return slot.slot < plan_.elite; }

    __device__ Individual current(const Slot& slot) const {
        return before(slot, ranked(slot, slot.slot));
    }

    template <class Decoder>
    __device__ void draw(Decoder& decoder, Gene* row, const Slot& slot, uint32_t stream) {
        decoder.begin();
        encoding::fill(decoder, row, all_.shape, slot.place, stream);
    }

    template <class Decoder>
    __device__ void show(Decoder& decoder, const Gene* row) {
        decoder.begin();
        encoding::count(decoder, row, all_.shape.n);
    }

    template <class Decoder>
    __device__ auto decoded(Decoder& decoder, const Gene* row) {
        return decoder.finish(row);
    }

    template <class Decoder>
    __device__ Gene* make(Decoder& decoder, Scratch, Gene* row, const Slot& slot) {
        if (slot.slot < plan_.elite + plan_.mutants) {
            draw(decoder, row, slot, stream::MUTANT);
        } else {
            decoder.begin();
            mate(decoder, row, slot);
        }
        return row;
    }

  private:
    // Draw the ranks of the parents, all different and ascending: elite ones first, then others.
    __device__ void draw_parents(int (&rank)[BRKGA_PARENTS], const draw::Place& place) const {
        uint4 words = {};
        for (int k = 0; k < BRKGA_PARENTS; ++k) {
            if (k % 4 == 0) words = place.words(stream::PARENTS, k / 4);
            const bool elite = k < plan_.elite_parents;
            const int start = elite ? 0 : plan_.elite_parents;  // of this group's ranks in `rank`
            const int left = (elite ? plan_.elite : all_.population - plan_.elite) - (k - start);
            int drawn = draw::below(words.x, left) + (elite ? 0 : plan_.elite);
            words = {words.y, words.z, words.w, words.x};
            int hole = start;
            for (; hole < k && rank[hole] <= drawn; ++hole) ++drawn;
            for (int i = k; i > hole; --i) rank[i] = rank[i - 1];
            rank[hole] = drawn;
        }
    }

    template <class Decoder>
    __device__ void mate(Decoder& decoder, Gene* row, const Slot& slot) const {
        int rank[BRKGA_PARENTS];
        draw_parents(rank, slot.place);
        const Quad<Gene>* parent[BRKGA_PARENTS];
        for (int k = 0; k < BRKGA_PARENTS; ++k) {
            const int32_t before = row_before(slot, ranked(slot, rank[k]));
            parent[k] = reinterpret_cast<const Quad<Gene>*>(all_.genes_of(before));
        }
        for (int quad = threadIdx.x; quad < all_.shape.pitch / 4; quad += blockDim.x) {
            Quad<Gene> key = parent[0][quad];
            const uint4 word = slot.place.words(stream::MATE, quad);
            for (int k = 1; k < BRKGA_PARENTS; ++k) {
                const Quad<Gene> other = parent[k][quad];
                const uint32_t bias = plan_.bias[k - 1];
                key = {word.x >= bias ? other.x : key.x, word.y >= bias ? other.y : key.y,
                       word.z >= bias ? other.z : key.z, word.w >= bias ? other.w : key.w};
            }
            encoding::put(decoder, row, quad, all_.shape.n, key);
        }
    }
};

}  // namespace algorithm

#include "generation.cuh"
