// Particle swarm optimisation (Kennedy and Eberhart 1995) on keys and vectors, and on bits (1997)
// as in Munhao et al. (2019). A row of the population is the best position that a particle has
// found; its current position and velocity are in separate arrays. Reads generation g and these
// arrays, which it updates in place. Random streams: VELOCITY, and SIGMOID for bits.
#pragma once

#include "algorithms/base.cuh"
#include "core/nibbles.cuh"
#include "core/sigmoid.cuh"

// How the inertia decreases: linearly, mostly early, or mostly late.
#define PSO_LINEAR 0
#define PSO_EARLY 1
#define PSO_LATE 2

namespace algorithm {

// The type of velocities and positions in computations: double if genes are double.
__device__ float real(uint32_t);
__device__ float real(float);
__device__ double real(double);
using Real = decltype(real(Gene{}));

struct Plan {
    float own_pull, swarm_pull;          // c1 and c2
    float first_inertia, final_inertia;  // decreases from the first to the second
    int32_t horizon;                     // generations until the final inertia
    int32_t schedule;                    // PSO_LINEAR, PSO_EARLY or PSO_LATE
    int32_t side;                        // neighbours on either side; 0: the whole swarm
    float fastest;                       // maximum velocity
    float low, width;                    // initial genes are drawn from [low, low + width)
    Real* velocity;                      // [islands][population][items of a row]
    Gene* position;                      // [islands][population][pitch]
    int64_t* position_cost;              // [islands][population]
    int64_t* began;                      // [islands]: generation of the last restart
};

constexpr float LARGEST_KEY = 1e30f;  // small enough that sums do not overflow
constexpr int ITEMS_PER_GENE = genes::is_packed(Gene{}) ? 32 : 1;

__device__ Real clamped(Real value, Real limit) {
    const Real below = value > limit ? limit : value;
    return below < -limit ? -limit : below;
}

__device__ float fourth_power(float value) { return (value * value) * (value * value); }

__device__ float inertia(const Plan& plan, int64_t passed) {
    const float gone = passed < plan.horizon ? float(passed) / float(plan.horizon) : 1.0f;
    const float fallen = plan.schedule == PSO_EARLY  ? 1.0f - fourth_power(1.0f - gone)
                         : plan.schedule == PSO_LATE ? fourth_power(gone)
                                                     : gone;
    return plan.first_inertia + fallen * (plan.final_inertia - plan.first_inertia);
}

// The velocity update of one item.
struct Pull {
    float inertia, own, swarm, fastest;

    // The halves of a random word weight the two attractions.
    __device__ Real pulled(Real velocity, Real here, Real best, Real lead, uint32_t word) const {
        const float one = float(word >> 16) * (1.0f / 65536.0f);
        const float other = float(word & 0xffffu) * (1.0f / 65536.0f);
        const Real faster = inertia * velocity + own * one * (best - here);
        return clamped(faster + swarm * other * (lead - here), fastest);
    }

    __device__ Quad<Real> pulled(Quad<Real> velocity, Quad<Real> here, Quad<Real> best,
                                 Quad<Real> lead, uint4 word) const {
        return {pulled(velocity.x, here.x, best.x, lead.x, word.x),
                pulled(velocity.y, here.y, best.y, lead.y, word.y),
                pulled(velocity.z, here.z, best.z, lead.z, word.z),
                pulled(velocity.w, here.w, best.w, lead.w, word.w)};
    }
};

// Return the positions of four items.
template <class Key>
__device__ Quad<Key> four(const Key* row, int quad) {
    return reinterpret_cast<const Quad<Key>*>(row)[quad];
}

__device__ float4 four(const uint32_t* row, int quad) {
    const uint32_t bits = row[quad / 8] >> (4 * (quad % 8));
    return {float(bits & 1), float(bits >> 1 & 1), float(bits >> 2 & 1), float(bits >> 3 & 1)};
}

// Return the new position of a gene, clipped to its bounds.
__device__ Real moved(Real here, Real velocity) {
#if ENCODING_BOUNDED
    return genes::clipped(here + velocity);
#else
    return clamped(here + velocity, LARGEST_KEY);
#endif
}

// Return the velocity to keep: 0 for a gene at its bound.
__device__ Real kept(Real here, Real velocity) {
#if ENCODING_BOUNDED
    return moved(here, velocity) == here + velocity ? velocity : Real(0);
#else
    return velocity;
#endif
}

__device__ Quad<Real> kept(Quad<Real> here, Quad<Real> velocity) {
    return {kept(here.x, velocity.x), kept(here.y, velocity.y), kept(here.z, velocity.z),
            kept(here.w, velocity.w)};
}

// Move four items, except those after the last one.
template <class Key>
__device__ void move(Key* to, int quad, int, Quad<Key> here, Quad<Key> velocity,
                     const draw::Place&) {
    reinterpret_cast<Quad<Key>*>(to)[quad] = {moved(here.x, velocity.x), moved(here.y, velocity.y),
                                              moved(here.z, velocity.z), moved(here.w, velocity.w)};
}

__device__ void move(uint32_t* to, int quad, int items, float4, float4 velocity,
                     const draw::Place& place) {
    uint32_t bits = 0;
    if (4 * quad < items) {
        const uint4 word = place.words(stream::SIGMOID, quad);
        const auto bit = [&](int k, uint32_t word, float velocity) {
            const bool set = draw::uniform(word) < sigmoid::of(velocity);
            return uint32_t(set && 4 * quad + k < items) << k;
        };
        bits = bit(0, word.x, velocity.x) | bit(1, word.y, velocity.y) |
               bit(2, word.z, velocity.z) | bit(3, word.w, velocity.w);
    }
    nibbles::put(to, quad, bits);
}

// The current position of a particle, its velocity, and the positions that attract it.
struct Particle {
    Quad<Real>* velocity;
    const Gene *here, *best, *lead;
};

// Write the next position of a particle to shared memory, visible to all threads after a barrier.
__device__ void advance(Gene* to, const Particle& particle, const Pull& pull,
                        const encoding::Shape& shape, const draw::Place& place) {
    const int items = genes::items(shape);
    for (int quad = threadIdx.x; quad < shape.pitch * ITEMS_PER_GENE / 4; quad += blockDim.x) {
        const Quad<Real> here = four(particle.here, quad);
        Quad<Real> velocity = {};
        if (4 * quad < items) {
            const uint4 word = place.words(stream::VELOCITY, quad);
            velocity = pull.pulled(particle.velocity[quad], here, four(particle.best, quad),
                                   four(particle.lead, quad), word);
            particle.velocity[quad] = kept(here, velocity);
        }
        move(to, quad, items, here, velocity, place);
    }
}

// Scale genes in [0, 1) to the initial range, each by the thread that wrote it. Bits have no range.
template <class Key>
__device__ void spread(Key* row, const Plan& plan, int pitch) {
    for (int i = threadIdx.x; i < pitch; i += blockDim.x) row[i] = plan.low + plan.width * row[i];
}

__device__ void spread(uint32_t*, const Plan&, int) {}

class Mover : public Base<Plan> {
  public:
    static constexpr bool KEEPS_ALL = true;

    __device__ Mover(const Islands& all, const Plan& plan, Scratch& scratch)
        : Base(all, plan, scratch), here_(scratch.take<Gene>(all.shape.pitch)) {}

    __device__ bool passes(const Slot& slot) {
        // Read the cost early to hide the latency.
        current_ = all_.cost[row_before(slot, slot.slot)];
        return false;
    }

    __device__ Individual current(const Slot& slot) const {
        return {current_, all_.genes_of(row_before(slot, slot.slot))};
    }

    template <class Decoder>
    __device__ void draw(Decoder&, Gene* row, const Slot& slot, uint32_t stream) {
        encoding::fill(row, all_.shape, slot.place, stream);
        spread(row, plan_, all_.shape.pitch);
    }

    template <class Decoder>
    __device__ Gene* make(Decoder&, Scratch, Gene*, const Slot& slot) {
        const int lead = leader(slot);
        const int64_t passed = slot.made - 1 - plan_.began[slot.local];
        const Pull pull{inertia(plan_, passed), plan_.own_pull, plan_.swarm_pull, plan_.fastest};
        const Particle particle{velocity(slot), position(slot),
                                all_.genes_of(row_before(slot, slot.slot)),
                                all_.genes_of(row_before(slot, lead))};
        advance(here_, particle, pull, all_.shape, slot.place);
        return here_;
    }

    __device__ bool enters(const Slot&, const Gene*, int64_t cost) const { return cost < current_; }

    // Store the current position. A reinitialised particle has velocity zero.
    __device__ void store_state(const Slot& slot, const Gene* here, int64_t cost, bool) const {
        copy_row(position(slot), here, all_.shape.pitch);
        if (threadIdx.x == 0) plan_.position_cost[number(slot)] = cost;
        if (!slot.redrawn) return;
        Quad<Real>* const still = velocity(slot);
        for (int quad = threadIdx.x; quad < quads(); quad += blockDim.x) still[quad] = {};
        // Ranks that share an island have different slots, but all need the generation.
        if (slot.slot == all_.first && threadIdx.x == 0) plan_.began[slot.local] = slot.made;
    }

  private:
    // Return the particle to follow: the best of all, or of the particle and its ring neighbours.
    __device__ int leader(const Slot& slot) const {
        if (plan_.side == 0) return ranked(slot, 0);
        block::Ranked best{0x7fffffffffffffffll, 0xffffffffu};
        for (int k = threadIdx.x; k <= 2 * plan_.side; k += blockDim.x) {
            int other = slot.slot + k - plan_.side;
            other += other < 0 ? all_.population : other >= all_.population ? -all_.population : 0;
            const block::Ranked seen{all_.cost[row_before(slot, other)], uint32_t(other)};
            if (seen.before(best)) best = seen;
        }
        return block::argmin(best).index;
    }

    __device__ int quads() const { return all_.shape.pitch * ITEMS_PER_GENE / 4; }
    __device__ Quad<Real>* velocity(const Slot& slot) const {
        return reinterpret_cast<Quad<Real>*>(plan_.velocity) + number(slot) * quads();
    }
    __device__ Gene* position(const Slot& slot) const {
        return plan_.position + number(slot) * all_.shape.pitch;
    }

    Gene* const here_;
    int64_t current_ = 0;
};

}  // namespace algorithm

#include "generation.cuh"
