// Differential evolution (Storn and Price 1997) on unbounded keys, as in Jardim (2021), or on
// bounded genes, optionally with self-adaptive settings (jDE: Brest, Greiner, Boskovic, Mernik and
// Zumer 2006). Builds one trial per individual, which replaces it if better. Reads generation g;
// writes the trial to scratch memory, and the adapted settings of replaced individuals.
// Random streams: DONORS, TRIAL, ADAPT.
#pragma once

#include "algorithms/base.cuh"

// DE_STRATEGY selects the base of a mutant: a random individual, the best, or the current one moved
// towards the best or towards one of the best tenth (Zhang and Sanderson 2009). With DE_NEARBY, F
// and Cr are drawn near values that succeeded, otherwise from their whole ranges.
#define DE_RAND 0
#define DE_BEST 1
#define DE_CURRENT_TO_BEST 2
#define DE_CURRENT_TO_PBEST 3

namespace algorithm {

struct Plan {
    float low, width;         // initial genes are drawn from [low, low + width)
    float weight, crossover;  // F and Cr
    float* own_weight;        // [islands][population]; null unless the settings adapt
    float* own_crossover;
};

constexpr float LARGEST_KEY = 1e30f;        // small enough that sums do not overflow
constexpr float CHANGE_PROBABILITY = 0.1f;  // of a new F and of a new Cr for each trial
constexpr int BEST_SHARE = 10;              // a leader is among the best 1 / BEST_SHARE
constexpr float SPREAD = 0.1f;              // spread of values around successful ones
constexpr float LOWEST_WEIGHT = 0.1f, WEIGHT_RANGE = 0.9f;

// Three individuals that differ from `self` and each other, and a spare random word.
struct Donors {
    int a, b, c;
    uint32_t spare;

    __device__ Donors(int self, int population, const draw::Place& place) {
        const uint4 word = place.words(stream::DONORS, 0);
        // Each draw is a rank among the remaining individuals: those already taken are skipped in
        // ascending order.
        a = draw::below(word.x, population - 1);
        a += a >= self;
        const int low = min(self, a), high = self + a - low;
        b = draw::below(word.y, population - 2);
        b += b >= low;
        b += b >= high;
        const int lowest = min(low, b), highest = b > high ? b : high;
        c = draw::below(word.z, population - 3);
        c += c >= lowest;
        c += c >= low + high + b - lowest - highest;
        c += c >= highest;
        spare = word.w;
    }
};

// F and Cr of a trial: the common settings, or the individual's own after adaptation.
struct Rates {
    float weight, crossover;

    __device__ Rates(const Plan& plan) : weight(plan.weight), crossover(plan.crossover) {}

    // Draw values near those of the individual's last successful trial.
    __device__ void adapt_nearby(const Plan& plan, int64_t individual, const draw::Place& place) {
        const uint4 word = place.words(stream::ADAPT, 0);
        const float own = plan.own_weight[individual];
        // Most steps are short, but some are long, as in a Cauchy distribution.
        const float far = 2 * draw::uniform(word.x) - 1, to_end = max(1 - fabsf(far), 1e-6f);
        weight = min(own + SPREAD * far / to_end, 1.0f);
        if (weight <= 0) weight = own;
        // The sum of four uniform numbers is approximately normal.
        const float parts =
            float((word.z >> 16) + (word.z & 0xffff) + (word.w >> 16) + (word.w & 0xffff)) /
            65536.0f;
        const float rate = plan.own_crossover[individual] + SPREAD * 1.75f * (parts - 2);
        crossover = min(max(rate, 0.0f), 1.0f);
    }

    __device__ void adapt(const Plan& plan, int64_t individual, const draw::Place& place) {
        const uint4 word = place.words(stream::ADAPT, 0);
        weight = draw::uniform(word.x) < CHANGE_PROBABILITY
                     ? LOWEST_WEIGHT + WEIGHT_RANGE * draw::uniform(word.y)
                     : plan.own_weight[individual];
        crossover = draw::uniform(word.z) < CHANGE_PROBABILITY ? draw::uniform(word.w)
                                                               : plan.own_crossover[individual];
    }

    // Store the values as the individual's own.
    __device__ void keep(const Plan& plan, int64_t individual) const {
        if (threadIdx.x != 0) return;
        plan.own_weight[individual] = weight;
        plan.own_crossover[individual] = crossover;
    }
};

// The rows that a trial is computed from.
struct Rows {
    const Quad<Gene>*own, *lead, *plus, *minus;
};

// Return a gene of the mutant. A bounded gene outside its range is replaced by the midpoint of the
// current gene and the bound; an unbounded one that is too large or NaN, by the current gene.
__device__ Gene mutated(Gene own, Gene lead, Gene plus, Gene minus, float weight) {
    const Gene base = DE_STRATEGY >= DE_CURRENT_TO_BEST ? own + weight * (lead - own) : lead;
    const Gene gene = base + weight * (plus - minus);
#if ENCODING_BOUNDED
    const Gene bound = gene < Gene(0) ? Gene(0) : genes::highest(gene);
    return gene == genes::clipped(gene) ? gene : own + (bound - own) / 2;
#else
    return gene >= -LARGEST_KEY && gene <= LARGEST_KEY ? gene : own;
#endif
}

// Cross an individual with its mutant.
__device__ void cross(Gene* trial, const Rows& rows, const Rates& rates, int certain, int quads,
                      const draw::Place& place) {
    for (int quad = threadIdx.x; quad < quads; quad += blockDim.x) {
        const uint4 word = place.words(stream::TRIAL, quad);
        const Quad<Gene> own = rows.own[quad], lead = rows.lead[quad];
        const Quad<Gene> plus = rows.plus[quad], minus = rows.minus[quad];
        const auto crossed = [&](int k, uint32_t word, Gene own, Gene lead, Gene plus, Gene minus) {
            const bool is_new = draw::uniform(word) < rates.crossover || 4 * quad + k == certain;
            return is_new ? mutated(own, lead, plus, minus, rates.weight) : own;
        };
        reinterpret_cast<Quad<Gene>*>(trial)[quad] = {
            crossed(0, word.x, own.x, lead.x, plus.x, minus.x),
            crossed(1, word.y, own.y, lead.y, plus.y, minus.y),
            crossed(2, word.z, own.z, lead.z, plus.z, minus.z),
            crossed(3, word.w, own.w, lead.w, plus.w, minus.w)};
    }
}

class Mover : public Base<Plan> {
  public:
    static constexpr bool IMPROVES_REDRAWN = false;

    __device__ Mover(const Islands& all, const Plan& plan, Scratch& scratch)
        : Base(all, plan, scratch), trial_(scratch.take<Gene>(all.shape.pitch)), rates_(plan) {}

    __device__ bool passes(const Slot& slot) {
        // Read the cost early to hide the latency.
        current_ = all_.cost[row_before(slot, slot.slot)];
        rates_ = Rates(plan_);
#if DE_NEARBY
        if (plan_.own_weight) rates_.adapt_nearby(plan_, number(slot), slot.place);
#else
        if (plan_.own_weight) rates_.adapt(plan_, number(slot), slot.place);
#endif
        return false;
    }

    __device__ Individual current(const Slot& slot) const {
        return {current_, all_.genes_of(row_before(slot, slot.slot))};
    }

    // Draw genes from the initial range.
    template <class Decoder>
    __device__ void draw(Decoder&, Gene* row, const Slot& slot, uint32_t stream) {
        const auto drawn = [&](uint32_t word) {
            return plan_.low + plan_.width * draw::fraction<Gene>(word);
        };
        for (int quad = threadIdx.x; quad < all_.shape.pitch / 4; quad += blockDim.x) {
            const uint4 word = slot.place.words(stream, quad);
            reinterpret_cast<Quad<Gene>*>(row)[quad] = {drawn(word.x), drawn(word.y), drawn(word.z),
                                                        drawn(word.w)};
        }
    }

    template <class Decoder>
    __device__ Gene* make(Decoder&, Scratch, Gene*, const Slot& slot) {
        const Donors donors(slot.slot, all_.population, slot.place);
        const int lead = DE_STRATEGY == DE_RAND ? donors.a : ranked(slot, lead_rank(donors));
        const auto quads_of = [&](int other) {
            return reinterpret_cast<const Quad<Gene>*>(all_.genes_of(row_before(slot, other)));
        };
        cross(trial_, {quads_of(slot.slot), quads_of(lead), quads_of(donors.b), quads_of(donors.c)},
              rates_, draw::below(donors.spare, all_.shape.n), all_.shape.pitch / 4, slot.place);
        return trial_;
    }

    __device__ bool enters(const Slot&, const Gene*, int64_t cost) const { return cost < current_; }

    __device__ void store_state(const Slot& slot, const Gene*, int64_t, bool enters) const {
        if (!plan_.own_weight || !enters) return;
        (slot.redrawn ? Rates(plan_) : rates_).keep(plan_, number(slot));
    }

  private:
    // Return the rank of the leading individual.
    __device__ int lead_rank(const Donors& donors) const {
        if (DE_STRATEGY != DE_CURRENT_TO_PBEST) return 0;
        return int64_t(donors.a) * max(all_.population / BEST_SHARE, 2) / all_.population;
    }

    Gene* const trial_;
    Rates rates_;
    int64_t current_ = 0;
};

}  // namespace algorithm

#include "generation.cuh"
