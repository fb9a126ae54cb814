// Migration: packs emigrants into a buffer, which is sent unchanged, and replaces individuals by
// immigrants from a buffer. A slot of the buffer holds the migrants of one island. Reads and writes
// generation g.
// No random numbers here; selection.cuh draws.
#pragma once

#include "core/islands.cuh"
#include "migrant.cuh"

// The outcome for one immigrant.
struct Arrival {
    int64_t cost;
    int32_t rejected;  // there was no migrant, or its genome is already on the island
    int32_t accepted;  // it has replaced an individual
};

struct Migration {
    int32_t migrants;  // sent per island
    int32_t degree;    // maximum number of islands that an island receives from
    int32_t reject_duplicates;
    int32_t if_better;
    const int32_t* leaving;  // [slots]: the island packed into a slot, or -1
    const int32_t* source;   // [islands][degree]: the slots that an island receives, or -1
    char* buffer;

    __device__ int arrivals() const { return degree * migrants; }

    // Return arrival `number` of an island, or null. Arrivals are ordered by source island and
    // position.
    __device__ Migrant* arrival(const Islands& all, int island, int number) const {
        const int slot = source[island * degree + number / migrants];
        if (slot < 0) return nullptr;
        return migrant_at(all, buffer, int64_t(slot) * migrants + number % migrants);
    }
};

// Each block packs one emigrant. `chosen` lists the emigrants, `stride` per island.
KERNEL(migrate_pack, (Islands all, Migration plan, const int32_t* chosen, int32_t stride)) {
    const int me = plan.leaving[blockIdx.x / plan.migrants];
    if (me < 0) return;
    const int individual = chosen[int64_t(me) * stride + blockIdx.x % plan.migrants];
    migrant::pack(all, all.row(all.island[me].generation, me, individual),
                  migrant_at(all, plan.buffer, blockIdx.x));
}

namespace migrate {

__device__ bool same_genes(const encoding::Gene* a, const encoding::Gene* b, int n) {
    int64_t different = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) different += a[i] != b[i];
    return block::sum(different) == 0;
}

// Return the lowest number from `first` to `count` - 1 for which `matches` is true, or `count`.
template <class Matches>
__device__ int next_match(int first, int count, Matches matches) {
    block::Ranked found{count, 0};
    for (int i = first + threadIdx.x; i < count && found.value == count; i += blockDim.x) {
        if (matches(i)) found.value = i;
    }
    return block::argmin(found).value;
}

// Return whether the genome of an arrival is already on the island or in an earlier arrival.
__device__ bool is_duplicate(const Islands& all, const Migration& plan, int me, int number) {
    Migrant* const self = plan.arrival(all, me, number);
    const int64_t first = all.row(all.island[me].generation, me, 0);
    for (int i = -1;;) {
        i = next_match(i + 1, all.population,
                       [&](int other) { return all.cost[first + other] == self->cost; });
        if (i == all.population) break;
        if (same_genes(all.genes_of(first + i), self->genes(), all.shape.n)) return true;
    }
    for (int i = -1;;) {
        i = next_match(i + 1, number, [&](int other) {
            Migrant* const before = plan.arrival(all, me, other);
            return before != nullptr && before->cost == self->cost;
        });
        if (i == number) return false;
        if (same_genes(plan.arrival(all, me, i)->genes(), self->genes(), all.shape.n)) return true;
    }
}

}  // namespace migrate

// Each block checks one arrival, before any is accepted.
KERNEL(migrate_check, (Islands all, Migration plan, Arrival* arrivals)) {
    const int me = blockIdx.x / plan.arrivals(), number = blockIdx.x % plan.arrivals();
    Migrant* const self = plan.arrival(all, me, number);
    const bool rejected =
        self == nullptr || (plan.reject_duplicates && migrate::is_duplicate(all, plan, me, number));
    if (threadIdx.x == 0) arrivals[blockIdx.x] = {self == nullptr ? 0 : self->cost, rejected, 0};
}

// Each block accepts one arrival unless it was rejected. The best arrival of an island takes the
// first place, the next best the second, and so on; ties are broken by the lower source island.
// Places are the individuals from the worst upwards or, if given, those in `victims`.
KERNEL(migrate_take, (Islands all, Migration plan, const int32_t* victims, Arrival* arrivals)) {
    const int me = blockIdx.x / plan.arrivals(), number = blockIdx.x % plan.arrivals();
    Arrival* const here = arrivals + me * plan.arrivals();
    if (here[number].rejected) return;
    const block::Ranked self{here[number].cost, uint32_t(number)};
    int64_t before = 0;
    for (int i = threadIdx.x; i < plan.arrivals(); i += blockDim.x) {
        before += !here[i].rejected && block::Ranked{here[i].cost, uint32_t(i)}.before(self);
    }
    const int place = block::sum(before);
    const int individual = victims == nullptr ? all.order[(me + 1) * all.population - 1 - place]
                                              : victims[int64_t(me) * plan.arrivals() + place];
    const int32_t row = all.row(all.island[me].generation, me, individual);
    const bool accepted = !plan.if_better || self.value < all.cost[row];
    __syncthreads();  // every thread has read the cost that is replaced below
    if (!accepted) return;
    if (threadIdx.x == 0) {
        all.cost[row] = self.value, here[number].accepted = 1;
        if (all.changed != nullptr) all.changed[me * all.population + individual] = 1;
    }
    migrant::unpack(all, row, plan.arrival(all, me, number));
}
