// Differential evolution (Storn and Price 1997) on keys of any size, as Jardim (2021) moves them,
// and with settings that adapt themselves (jDE: Brest, Greiner, Boskovic, Mernik and Zumer 2006).
// One block makes and judges the trial of one individual.
#pragma once

#include "core/archipelago.cuh"
#include "individual.cuh"

// DE_STRATEGY says what a mutant begins from: any individual, the best, or the one that it is to
// follow, moved towards the best. DE_ADAPTS: each individual has an F and a Cr of its own.
#define DE_RAND 0
#define DE_BEST 1
#define DE_CURRENT_TO_BEST 2

struct De {
    float low, width;         // keys are drawn from low on, below low + width
    float weight, crossover;  // F and Cr
    float* own_weight;        // [islands][population]: where each individual has its own
    float* own_crossover;
};

namespace de {

constexpr float LARGEST_KEY = 1e30f;  // far from where sums overflow
constexpr float CHANGES = 0.1f;       // how often a trial gets a new F, and how often a new Cr
constexpr float LOWEST_WEIGHT = 0.1f, WEIGHTS = 0.9f;

// Three individuals that differ from `self` and from each other, and a word to spare.
struct Donors {
    int a, b, c;
    uint32_t spare;

    __device__ Donors(int self, int population, const draw::Place& place) {
        const uint4 word = place.words(stream::DONORS, 0);
        // Each is a rank among those not taken yet, who are passed in ascending order.
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

// What a trial is made with: the settings of all, or those of its individual, which may change.
struct Rates {
    float weight, crossover;

    __device__ Rates(const De& plan) : weight(plan.weight), crossover(plan.crossover) {}

    __device__ void adapt(const De& plan, int64_t individual, const draw::Place& place) {
        const uint4 word = place.words(stream::ADAPT, 0);
        weight = draw::uniform(word.x) < CHANGES ? LOWEST_WEIGHT + WEIGHTS * draw::uniform(word.y)
                                                 : plan.own_weight[individual];
        crossover = draw::uniform(word.z) < CHANGES ? draw::uniform(word.w)
                                                    : plan.own_crossover[individual];
    }

    // Makes them an individual's own.
    __device__ void keep(const De& plan, int64_t individual) const {
        if (threadIdx.x != 0) return;
        plan.own_weight[individual] = weight;
        plan.own_crossover[individual] = crossover;
    }
};

// The rows of the population that a trial is made of.
struct Rows {
    const float4 *own, *lead, *plus, *minus;
};

// Returns a key of the mutant; one that has grown out of all bounds, or is none, is not taken.
__device__ float mutated(float own, float lead, float plus, float minus, float weight) {
    const float base = DE_STRATEGY == DE_CURRENT_TO_BEST ? own + weight * (lead - own) : lead;
    const float key = base + weight * (plus - minus);
    return key >= -LARGEST_KEY && key <= LARGEST_KEY ? key : own;
}

// Crosses an individual with its mutant.
__device__ void cross(float* trial, const Rows& rows, const Rates& rates, int certain, int quads,
                      const draw::Place& place) {
    for (int quad = threadIdx.x; quad < quads; quad += blockDim.x) {
        const uint4 word = place.words(stream::TRIAL, quad);
        const float4 own = rows.own[quad], lead = rows.lead[quad];
        const float4 plus = rows.plus[quad], minus = rows.minus[quad];
        const auto crossed = [&](int k, uint32_t word, float own, float lead, float plus,
                                 float minus) {
            const bool is_new = draw::uniform(word) < rates.crossover || 4 * quad + k == certain;
            return is_new ? mutated(own, lead, plus, minus, rates.weight) : own;
        };
        reinterpret_cast<float4*>(trial)[quad] = {
            crossed(0, word.x, own.x, lead.x, plus.x, minus.x),
            crossed(1, word.y, own.y, lead.y, plus.y, minus.y),
            crossed(2, word.z, own.z, lead.z, plus.z, minus.z),
            crossed(3, word.w, own.w, lead.w, plus.w, minus.w)};
    }
}

// Draws keys from the initial range.
__device__ void draw_keys(float* keys, const De& plan, int quads, const draw::Place& place,
                          uint32_t stream) {
    const auto drawn = [&](uint32_t word) { return plan.low + plan.width * draw::uniform(word); };
    for (int quad = threadIdx.x; quad < quads; quad += blockDim.x) {
        const uint4 word = place.words(stream, quad);
        reinterpret_cast<float4*>(keys)[quad] = {drawn(word.x), drawn(word.y), drawn(word.z),
                                                 drawn(word.w)};
    }
}

// Evaluates an individual that has no past.
__device__ void begin(encoding::Decoder& decoder, Shelf shelf, const Archipelago& all,
                      const problem::Data& data, const De& plan, int64_t row, int local, int slot,
                      const draw::Place& place) {
    const int64_t cost = individual::evaluated(decoder, shelf, all, data, all.genes_of(row), place);
    if (threadIdx.x == 0) all.cost[row] = cost;
    if (DE_ADAPTS) Rates(plan).keep(plan, int64_t(local) * all.population + slot);
    all.count(local, slot, 1);
}

}  // namespace de

// The first generation: `given[island]` individuals are there already, the others are drawn.
KERNEL(de_start,
       (Arena arena, Archipelago all, problem::Data data, De plan, const int32_t* given)) {
    Shelf shelf(arena.large());
    encoding::Decoder decoder(arena, shelf, all.shape);
    for (int job = blockIdx.x; job < all.islands * all.population; job += gridDim.x) {
        const auto [local, slot] = all.individual(job);
        const int64_t row = all.row(0, local, slot);
        const draw::Place place = all.place(local, 0, slot);
        if (slot >= given[local]) {
            de::draw_keys(all.genes_of(row), plan, all.shape.pitch / 4, place, stream::START);
        }
        de::begin(decoder, shelf, all, data, plan, row, local, slot, place);
    }
}

// The next generation: each individual is followed by its trial if that is better, or by itself.
KERNEL(de_evolve,
       (Arena arena, Archipelago all, problem::Data data, De plan, improver::Plan improving)) {
    Shelf shelf(arena.large());
    encoding::Decoder decoder(arena, shelf, all.shape);
    float* const trial = shelf.take<float>(all.shape.pitch);
    const int pitch = all.shape.pitch;
    for (int job = blockIdx.x; job < all.islands * all.population; job += gridDim.x) {
        const auto mine = all.individual(job);
        const int local = mine.local, slot = mine.slot;
        const int64_t generation = all.island[local].generation;
        const int64_t from = all.row(generation, local, slot);
        const int64_t to = all.row(generation + 1, local, slot);
        const draw::Place place = all.place(local, generation + 1, slot);
        if (all.island[local].restart) {
            de::draw_keys(all.genes_of(to), plan, pitch / 4, place, stream::MUTANT);
            de::begin(decoder, shelf, all, data, plan, to, local, slot, place);
            continue;
        }
        const int64_t standing = all.cost[from];  // asked for early, as it takes long to come
        const int64_t number = int64_t(local) * all.population + slot;
        de::Rates rates(plan);
        if (DE_ADAPTS) rates.adapt(plan, number, place);
        const de::Donors donors(slot, all.population, place);
        const int lead =
            DE_STRATEGY == DE_RAND ? donors.a : all.order[int64_t(local) * all.population];
        const auto row_of = [&](int other) {
            return reinterpret_cast<const float4*>(all.genes_of(all.row(generation, local, other)));
        };
        __syncthreads();  // the last trial has been copied
        de::cross(trial, {row_of(slot), row_of(lead), row_of(donors.b), row_of(donors.c)}, rates,
                  draw::below(donors.spare, all.shape.n), pitch / 4, place);
        int64_t calls = 1;
        int64_t cost = individual::evaluated(decoder, shelf, all, data, trial, place);
        cost =
            individual::improved(decoder, shelf, all, data, improving, trial, cost, place, calls);
        individual::offer(all, local, slot, trial, cost);
        const bool survives = cost < standing;
        copy_row(all.genes_of(to), survives ? trial : all.genes_of(from), pitch);
        if (threadIdx.x == 0) all.cost[to] = survives ? cost : standing;
        if (DE_ADAPTS && survives) rates.keep(plan, number);
        all.count(local, slot, calls);
    }
}
