// Particle swarm optimisation (Kennedy and Eberhart 1995) on keys, and on bits (1997) as Munhao et
// al. (2019) move them. A row of the population is the best position that a particle has found;
// where the particle is now stands apart. One block moves and judges one particle.
#pragma once

#include "core/archipelago.cuh"
#include "core/nibbles.cuh"
#include "core/sigmoid.cuh"
#include "genes.cuh"
#include "individual.cuh"

// How the inertia falls: mostly in the beginning, evenly, or mostly in the end.
#define PSO_LINEAR 0
#define PSO_EARLY 1
#define PSO_LATE 2

struct Pso {
    float own_pull, swarm_pull;          // c1 and c2
    float first_inertia, final_inertia;  // it falls from one to the other
    int32_t horizon;                     // within so many generations
    int32_t course;                      // how it falls
    int32_t side;                        // neighbours on either side, or 0: all are seen
    float fastest;                       // no velocity is larger
    float low, width;                    // keys are drawn from low on, below low + width
    float* velocity;                     // [islands][population][things of a row]
    encoding::Gene* position;            // [islands][population][pitch]
    int64_t* position_cost;              // [islands][population]
    int64_t* began;                      // [islands]: the generation that was drawn afresh
};

namespace pso {

using encoding::Gene;

constexpr float LARGEST_KEY = 1e30f;  // far from where sums overflow
constexpr int THINGS_A_GENE = genes::is_packed(Gene{}) ? 32 : 1;

__device__ float clamped(float value, float limit) {
    const float below = value > limit ? limit : value;
    return below < -limit ? -limit : below;
}

__device__ float fourth_power(float value) { return (value * value) * (value * value); }

__device__ float inertia(const Pso& plan, int64_t passed) {
    const float gone = passed < plan.horizon ? float(passed) / float(plan.horizon) : 1.0f;
    const float fallen = plan.course == PSO_EARLY  ? 1.0f - fourth_power(1.0f - gone)
                         : plan.course == PSO_LATE ? fourth_power(gone)
                                                   : gone;
    return plan.first_inertia + fallen * (plan.final_inertia - plan.first_inertia);
}

// What one thing of a particle is drawn by.
struct Pull {
    float inertia, own, swarm, fastest;

    // The halves of a word say how strong either pull is.
    __device__ float on(float velocity, float here, float best, float lead, uint32_t word) const {
        const float one = float(word >> 16) * (1.0f / 65536.0f);
        const float other = float(word & 0xffffu) * (1.0f / 65536.0f);
        const float faster = inertia * velocity + own * one * (best - here);
        return clamped(faster + swarm * other * (lead - here), fastest);
    }

    __device__ float4 on(float4 velocity, float4 here, float4 best, float4 lead, uint4 word) const {
        return {on(velocity.x, here.x, best.x, lead.x, word.x),
                on(velocity.y, here.y, best.y, lead.y, word.y),
                on(velocity.z, here.z, best.z, lead.z, word.z),
                on(velocity.w, here.w, best.w, lead.w, word.w)};
    }
};

// Returns where four things stand.
__device__ float4 four(const float* row, int quad) {
    return reinterpret_cast<const float4*>(row)[quad];
}

__device__ float4 four(const uint32_t* row, int quad) {
    const uint32_t bits = row[quad / 8] >> (4 * (quad % 8));
    return {float(bits & 1), float(bits >> 1 & 1), float(bits >> 2 & 1), float(bits >> 3 & 1)};
}

// Lets four things move on. Those behind the last one stay what they are.
__device__ void move(float* to, int quad, int, float4 here, float4 velocity, const draw::Place&) {
    reinterpret_cast<float4*>(to)[quad] = {
        clamped(here.x + velocity.x, LARGEST_KEY), clamped(here.y + velocity.y, LARGEST_KEY),
        clamped(here.z + velocity.z, LARGEST_KEY), clamped(here.w + velocity.w, LARGEST_KEY)};
}

__device__ void move(uint32_t* to, int quad, int things, float4, float4 velocity,
                     const draw::Place& place) {
    uint32_t bits = 0;
    if (4 * quad < things) {
        const uint4 word = place.words(stream::SIGMOID, quad);
        const auto bit = [&](int k, uint32_t word, float velocity) {
            const bool set = draw::uniform(word) < sigmoid::of(velocity);
            return uint32_t(set && 4 * quad + k < things) << k;
        };
        bits = bit(0, word.x, velocity.x) | bit(1, word.y, velocity.y) |
               bit(2, word.z, velocity.z) | bit(3, word.w, velocity.w);
    }
    nibbles::put(to, quad, bits);
}

// Where a particle is and what draws it.
struct Particle {
    float4* velocity;
    const Gene *here, *best, *lead;
};

// Moves a particle to a row in block memory, which all threads see after a barrier.
__device__ void fly(Gene* to, const Particle& particle, const Pull& pull,
                    const encoding::Shape& shape, const draw::Place& place) {
    const int things = genes::things(shape);
    for (int quad = threadIdx.x; quad < shape.pitch * THINGS_A_GENE / 4; quad += blockDim.x) {
        const float4 here = four(particle.here, quad);
        float4 velocity = {};
        if (4 * quad < things) {
            velocity = pull.on(particle.velocity[quad], here, four(particle.best, quad),
                               four(particle.lead, quad), place.words(stream::VELOCITY, quad));
            particle.velocity[quad] = velocity;
        }
        move(to, quad, things, here, velocity, place);
    }
}

// Lets keys, drawn below one by the same threads, lie in the initial range. Bits have none.
__device__ void spread(float* row, const Pso& plan, int pitch) {
    for (int i = threadIdx.x; i < pitch; i += blockDim.x) row[i] = plan.low + plan.width * row[i];
}

__device__ void spread(uint32_t*, const Pso&, int) {}

// Draws a position.
__device__ void begin(Gene* row, const Pso& plan, const encoding::Shape& shape,
                      const draw::Place& place, uint32_t stream) {
    encoding::fill(row, shape, place, stream);
    spread(row, plan, shape.pitch);
}

// Returns whom a particle follows: the best of all, or of itself and its neighbours on a ring.
__device__ int leader(const Archipelago& all, const Pso& plan, int64_t generation, int local,
                      int slot) {
    if (plan.side == 0) return all.order[int64_t(local) * all.population];
    block::Ranked best{0x7fffffffffffffffll, 0xffffffffu};
    for (int k = threadIdx.x; k <= 2 * plan.side; k += blockDim.x) {
        int other = slot + k - plan.side;
        other += other < 0 ? all.population : other >= all.population ? -all.population : 0;
        const block::Ranked seen{all.cost[all.row(generation, local, other)], uint32_t(other)};
        if (seen.before(best)) best = seen;
    }
    return block::argmin(best).index;
}

// Keeps where a particle is now, and the best position that it has found, in `row`.
__device__ void keep(const Archipelago& all, const Pso& plan, int64_t particle, const Gene* here,
                     int64_t cost, int32_t row, const Gene* best, int64_t best_cost) {
    copy_row(plan.position + particle * all.shape.pitch, here, all.shape.pitch);
    copy_row(all.genes_of(row), best, all.shape.pitch);
    if (threadIdx.x == 0) plan.position_cost[particle] = cost, all.cost[row] = best_cost;
}

}  // namespace pso

// The first generation: `given[island]` individuals are there already, the others are drawn. All
// velocities are zero.
KERNEL(pso_start,
       (Arena arena, Archipelago all, problem::Data data, Pso plan, const int32_t* given)) {
    Shelf shelf(arena.large());
    encoding::Decoder decoder(arena, shelf, all.shape);
    encoding::Gene* const here = shelf.take<encoding::Gene>(all.shape.pitch);
    for (int job = blockIdx.x; job < all.islands * all.population; job += gridDim.x) {
        const auto [local, slot] = all.individual(job);
        const int32_t row = all.row(0, local, slot);
        const draw::Place place = all.place(local, 0, slot);
        __syncthreads();  // the last position has been copied
        if (slot < given[local]) {
            copy_row(here, all.genes_of(row), all.shape.pitch);
        } else {
            pso::begin(here, plan, all.shape, place, stream::START);
        }
        const int64_t cost = individual::evaluated(decoder, shelf, all, data, here, place);
        pso::keep(all, plan, job, here, cost, row, here, cost);
        all.count(local, slot, 1);
    }
}

// The next generation: each particle flies on, and remembers where it is if that is better than all
// before.
KERNEL(pso_evolve,
       (Arena arena, Archipelago all, problem::Data data, Pso plan, improver::Plan improving)) {
    Shelf shelf(arena.large());
    encoding::Decoder decoder(arena, shelf, all.shape);
    encoding::Gene* const here = shelf.take<encoding::Gene>(all.shape.pitch);
    const int pitch = all.shape.pitch, quads = pitch * pso::THINGS_A_GENE / 4;
    for (int job = blockIdx.x; job < all.islands * all.population; job += gridDim.x) {
        const auto [local, slot] = all.individual(job);
        const int64_t generation = all.island[local].generation;
        const int32_t from = all.row(generation, local, slot);
        const draw::Place place = all.place(local, generation + 1, slot);
        float4* const velocity = reinterpret_cast<float4*>(plan.velocity) + int64_t(job) * quads;
        const bool restarts = all.island[local].restart;
        const int64_t standing = all.cost[from];  // asked for early, as it takes long to come
        __syncthreads();                          // the last position has been copied
        if (restarts) {
            pso::begin(here, plan, all.shape, place, stream::MUTANT);
            for (int quad = threadIdx.x; quad < quads; quad += blockDim.x) velocity[quad] = {};
            if (slot == 0 && threadIdx.x == 0) plan.began[local] = generation + 1;
        } else {
            const int lead = pso::leader(all, plan, generation, local, slot);
            const pso::Pull pull{pso::inertia(plan, generation - plan.began[local]), plan.own_pull,
                                 plan.swarm_pull, plan.fastest};
            pso::fly(here,
                     {velocity, plan.position + int64_t(job) * pitch, all.genes_of(from),
                      all.genes_of(all.row(generation, local, lead))},
                     pull, all.shape, place);
        }
        int64_t calls = 1;
        int64_t cost = individual::evaluated(decoder, shelf, all, data, here, place);
        cost = individual::improved(decoder, shelf, all, data, improving, here, cost, place, calls);
        const bool is_best = restarts || cost < standing;
        pso::keep(all, plan, job, here, cost, all.row(generation + 1, local, slot),
                  is_best ? here : all.genes_of(from), is_best ? cost : standing);
        all.count(local, slot, calls);
    }
}
