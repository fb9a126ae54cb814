// A genetic algorithm with edge assembly crossover (Nagata and Kobayashi 2013) on tours: the best
// children of each pair of parents replace the first parent. Reads generation g, writes g + 1;
// positions and edge frequencies are updated in place.
// Random streams: ESET, and those of the included files.
#pragma once

#include "core/instance.cuh"
#include "eax/child.cuh"
#include "eax/first_tours.cuh"
#include "eax/promising.cuh"
#include "eax/stages.cuh"
#include "eax/winner.cuh"

#define EAX_KERNEL(threads, blocks, name)                                          \
    KERNEL_OF(threads, blocks, name,                                               \
              (Arena arena, Islands all, problem::Data data, algorithm::Plan plan, \
               improver::Plan improving))

namespace eax {

__device__ bool stops(const improver::Plan& improving) {
    return POLLING_IS_CHEAP && improver::halts(improving);
}

// Return whether a pair creates children in this generation.
__device__ bool crosses(const Plan& plan, const Pair& pair) {
    const Stage& stage = plan.stage[pair.local];
    return stage.phase < DONE && !(stage.sleeps && (pair.a == HEIR || pair.b == HEIR));
}

// Return whether an island restarts in this generation with new tours.
__device__ bool restarts(const Plan& plan, int local) {
    return plan.restarts && plan.stage[local].phase == DONE;
}

__device__ int individuals(const Islands& all) { return all.islands * all.population; }

// The pairs of a launch: a range of the mating order of each island.
__device__ int launched_pairs(const Islands& all, const Plan& plan) {
    return all.islands * (plan.end_pair - plan.first_pair);
}
__device__ int64_t launched_pair(const Islands& all, const Plan& plan, int job) {
    const int count = plan.end_pair - plan.first_pair;
    if (count == all.population) return job;
    const int local = job / count;
    return all.number(local, plan.first_pair + job - local * count);
}

}  // namespace eax

// Initialises the stage of an island, also on ranks that share it but create none of its tours.
EAX_KERNEL(32, 1, eax_begin) {
    if (threadIdx.x > 0 || !all.begins(blockIdx.x)) return;
    plan.stage[blockIdx.x] = {eax::SINGLE, 0, 0, eax::NO_COST, 0, 0, eax::NO_COST, 0};
}

// The first generation: a block creates one tour after another.
EAX_KERNEL(512, 1, eax_start) {
    Instance own(all, data, plan, improving);
    for (int job = blockIdx.x; job < all.jobs(); job += gridDim.x) {
        // Always create the first individual, so that there is a solution.
        if (job > 0 && eax::stops(improving)) break;
        const auto [local, slot] = all.of_job(job);
        if (!all.begins(local)) continue;
        own.choose(local);
        eax::make_first(all, own.data, own.plan, improving, Scratch(arena.large()), local, slot, 0,
                        slot < all.given[local], job == 0);
        __syncthreads();
    }
}

namespace eax {

// Return whether any individual of an island has changed, using all threads.
__device__ bool has_changed(const Islands& all, int local) {
    int changed = 0;
    for (int i = threadIdx.x; i < all.population; i += blockDim.x) {
        changed |= all.changed[int64_t(local) * all.population + i];
    }
    return block::any(changed);
}

}  // namespace eax

// Clears the edge frequencies of islands with changed individuals.
EAX_KERNEL(256, 1, eax_clear) {
    const int parts = gridDim.x / all.islands, local = blockIdx.x / parts;
    if (!eax::has_changed(all, local)) return;
    eax::Frequencies(plan, local, all.shape.n).clear(blockIdx.x % parts, parts);
}

// Counts the edges of all tours of these islands, and locates the cities of changed tours.
EAX_KERNEL(256, 1, eax_adopt) {
    Instance own(all, data, plan, improving);
    for (int job = blockIdx.x; job < eax::individuals(all); job += gridDim.x) {
        const auto [local, slot] = all.individual(job);
        if (!eax::has_changed(all, local)) continue;
        own.choose(local);
        int32_t* const order = all.genes_of(all.row(all.island[local].generation, local, slot));
        if (all.changed[job]) {
            eax::Position* const position = plan.position + int64_t(job) * all.shape.pitch;
            tours::Tour<eax::Position>{order, position, all.shape.n, own.data}.locate();
        }
        eax::Frequencies(own.plan, local, all.shape.n).count(order);
    }
}

// A block finds the AB-cycles of one pair after another.
EAX_KERNEL(384, 3, eax_pair) {
    const int n = all.shape.n;
    const int64_t pitch = all.shape.pitch;
    for (int nth = blockIdx.x; nth < eax::launched_pairs(all, plan); nth += gridDim.x) {
        if (eax::stops(improving)) break;
        const int64_t job = eax::launched_pair(all, plan, nth);
        eax::mate(all, plan, job);
        const eax::Pair pair(all, plan, job);
        if (!eax::crosses(plan, pair)) continue;
        const bool is_block = plan.stage[pair.local].phase == eax::BLOCK;
        uint16_t* const owner = plan.owner + job * pitch;
        for (int i = threadIdx.x; is_block && i < n; i += blockDim.x) owner[i] = eax::NO_CYCLE;
        const int64_t made = all.island[pair.local].generation + 1;
        const draw::Place place = all.place(pair.local, made, pair.a);
        const int most = is_block ? eax::MOST_CYCLES : min(plan.children, eax::MOST_CYCLES);
        const eax::Cycles cycles(plan, job, int(pitch));
        int32_t* const work = plan.work + job * eax::WORK * pitch;
        // The graph is allocated at the start of shared memory, and the comparison at its end or in
        // global memory. The walks later reuse the end.
        Scratch scratch(arena.large());
        Scratch of_comparison = eax::memory_of(plan, work, pitch, arena.large(), n);
        eax::Comparison comparison(plan, pair, of_comparison, work + 4 * pitch, n);
        const int count = comparison.count(arena.large());
        if (count <= plan.fast_vertices) {
            const int walks = eax::walks_in(plan, count, is_block);
            auto* const fast = scratch.take<eax::Adjacent<uint16_t>>(count);
            auto* const bits = scratch.take<uint8_t>(walks * eax::bytes_of_bits(count));
            eax::Graph<uint16_t> graph(count, work, fast, bits);
            comparison.write(graph);
            eax::find_cycles(cycles, graph, scratch, walks, most, int(pitch), place);
        } else {
            auto* const adjacent = reinterpret_cast<eax::Adjacent<int32_t>*>(work + pitch);
            auto* const slow = reinterpret_cast<uint8_t*>(work + 3 * pitch);
            eax::Graph<int32_t> graph(count, work, adjacent, slow);
            comparison.write(graph);
            eax::find_cycles(cycles, graph, scratch, 1, most, int(pitch), place);
        }
        if (is_block) cycles.mark(owner, n);
        __syncthreads();
    }
}

namespace eax {

// Create a child and write its outcome. Without IS_HEAVY, only estimate the promise of a heavy
// child; with it, reject a child of a long cycle that promises no more than `least`.
template <bool IS_HEAVY>
__device__ void make_child(const Islands& all, const Plan& plan, const problem::Data& data,
                           Scratch scratch, const Pair& pair, int number, double least) {
    const int64_t job = pair.index * plan.children + number;
    const bool is_block = plan.stage[pair.local].phase == BLOCK;
    const Cycles cycles(plan, pair.index, all.shape.pitch);
    const int count = cycles.count();
    Outcome outcome{0.0, 0};
    double promise = 0.0;
    if (count > 0 && (is_block || number < count)) {
        const int cycle = number % count;
        const bool is_long = cycles.edges(cycle) > LONG_CYCLE;
        if (!IS_HEAVY && is_long) {
            promise = UNKNOWN;
        } else {
            uint32_t mask = 0;
            if (number >= count) {
                const int64_t made = all.island[pair.local].generation + 1;
                mask = all.place(pair.local, made, pair.a).words(stream::ESET, number).x | 1;
            }
            Child child(all, plan, data, pair, cycles, scratch);
            // Merging hardly ever compensates for an E-set that lengthens the tour.
            const int64_t gain = child.make(cycle, mask, is_block);
            const bool is_hopeless = gain <= 0 || (is_long && child.promise(gain) <= least);
            if (!is_hopeless && child.find(is_block)) {
                if (!IS_HEAVY && child.is_heavy()) {
                    promise = child.promise(gain);
                } else {
                    outcome = child.finish(gain, cycles.table->differing);
                }
            }
            if (outcome.score > 0.0) child.store(plan.record + job * RECORD);
        }
    }
    if (threadIdx.x == 0) plan.outcome[job] = outcome;
    if (threadIdx.x == 0 && !IS_HEAVY) plan.promise[job] = promise;
}

}  // namespace eax

// A block creates one light child after another.
EAX_KERNEL(32, 20, eax_child) {
    Instance own(all, data, plan, improving);
    const int end = eax::launched_pairs(all, plan) * plan.children;
    for (int job = blockIdx.x; job < end; job += gridDim.x) {
        if (eax::stops(improving)) break;
        const eax::Pair pair(all, plan, eax::launched_pair(all, plan, job / plan.children));
        if (!eax::crosses(plan, pair)) continue;
        __syncthreads();  // the previous child is complete
        const int number = job % plan.children;
        own.choose(pair.local);
        eax::make_child<false>(all, own.plan, own.data, Scratch(arena.large()), pair, number, 0.0);
    }
}

// A larger block creates a share of the promising heavy children of one pair after another.
EAX_KERNEL(256, 3, eax_heavy) {
    Instance own(all, data, plan, improving);
    const int end = eax::launched_pairs(all, plan) * plan.shares;
    for (int job = blockIdx.x; job < end; job += gridDim.x) {
        if (eax::stops(improving)) break;
        const eax::Pair pair(all, plan, eax::launched_pair(all, plan, job / plan.shares));
        if (!eax::crosses(plan, pair)) continue;
        __syncthreads();
        own.choose(pair.local);
        Scratch scratch(arena.large());
        const eax::Promising promising(plan, pair.index, scratch);
        for (int k = job % plan.shares; k < promising.count; k += plan.shares) {
            if (eax::stops(improving)) break;
            const int number = promising.numbers[k];
            eax::make_child<true>(all, own.plan, own.data, scratch, pair, number, promising.least);
            __syncthreads();
        }
    }
}

namespace eax {

// Choose among the children of a pair.
__device__ void choose(Choice& children, const Plan& plan, const Pair& pair) {
    const int64_t first = pair.index * plan.children;
    children.choose(plan.outcome + first, plan.record + first * RECORD, pair.cost_a - pair.cost_b,
                    plan.table[pair.index].differing);
}

}  // namespace eax

// Used if ranks share an island: a block chooses among the children of one pair after another.
EAX_KERNEL(512, 3, eax_choose) {
    for (int nth = blockIdx.x; nth < eax::launched_pairs(all, plan); nth += gridDim.x) {
        if (eax::stops(improving)) break;
        const eax::Pair pair(all, plan, eax::launched_pair(all, plan, nth));
        Scratch scratch(arena.large());
        eax::Choice children(scratch, all.shape.n, plan.children);
        if (eax::crosses(plan, pair)) eax::choose(children, plan, pair);
        children.store(plan.chosen[pair.index]);
        __syncthreads();
    }
}

// A block writes the next individual for the first parent of one pair after another. For restarting
// islands, it clears the frequencies.
EAX_KERNEL(512, 3, eax_replace) {
    Instance own(all, data, plan, improving);
    const int n = all.shape.n;
    for (int job = blockIdx.x; job < eax::individuals(all); job += gridDim.x) {
        if (eax::stops(improving)) break;
        const auto [local, number] = all.individual(job);
        own.choose(local);
        const eax::Frequencies frequencies(own.plan, local, n);
        if (eax::restarts(plan, local)) {
            frequencies.clear(number, all.population);
            continue;
        }
        if (plan.shared) eax::mate(all, plan, job);  // includes pairs of other ranks
        const eax::Pair pair(all, plan, job);
        const int32_t row = all.row(all.island[local].generation + 1, local, pair.a);
        encoding::Gene* const to = all.genes_of(row);
        const bool is_crossed = eax::crosses(plan, pair);
        Scratch scratch(arena.large());
        eax::Choice children(scratch, n, plan.children);
        if (is_crossed && plan.shared) {
            children.load(plan.chosen[job]);
        } else if (is_crossed) {
            eax::choose(children, plan, pair);
        }
        if (is_crossed) all.count(local, pair.a, plan.children);
        if (threadIdx.x == 0) all.cost[row] = pair.cost_a - children.gain;
        if (children.children == 0) {
            copy_row(to, pair.order_a, all.shape.pitch);
            continue;
        }
        eax::Winner winner(scratch, children, n);
        winner.write(pair.order_a, to, plan.position + all.number(local, pair.a) * all.shape.pitch);
        winner.count(frequencies, pair.order_a);
    }
}

// A block creates the tours of restarting islands, one after another: the heir and new ones. It
// counts their edges unless other ranks also create tours.
EAX_KERNEL(512, 1, eax_restart) {
    Instance own(all, data, plan, improving);
    for (int job = blockIdx.x; job < all.jobs(); job += gridDim.x) {
        const auto [local, slot] = all.of_job(job);
        if (!eax::restarts(plan, local)) continue;
        if (eax::stops(improving)) break;
        const int64_t made = all.island[local].generation + 1;
        own.choose(local);
        if (slot == eax::HEIR) {
            eax::write_heir(all, plan, own.data, local);
        } else {
            eax::make_first(all, own.data, own.plan, improving, Scratch(arena.large()), local, slot,
                            made, false, false);
        }
        __syncthreads();
        if (plan.shared) continue;
        int32_t* const order = all.genes_of(all.row(made, local, slot));
        eax::Frequencies(own.plan, local, all.shape.n).count(order);
        __syncthreads();
    }
}

// Used if ranks share a restarting island: locates the cities and counts the edges of all tours.
EAX_KERNEL(256, 1, eax_recount) {
    Instance own(all, data, plan, improving);
    for (int job = blockIdx.x; job < eax::individuals(all); job += gridDim.x) {
        const auto [local, slot] = all.individual(job);
        if (!eax::restarts(plan, local)) continue;
        int32_t* const order = all.genes_of(all.row(all.island[local].generation + 1, local, slot));
        eax::Position* const position = plan.position + int64_t(job) * all.shape.pitch;
        own.choose(local);
        tours::Tour<eax::Position>{order, position, all.shape.n, own.data}.locate();
        eax::Frequencies(own.plan, local, all.shape.n).count(order);
    }
}

// A block updates the stage of an island.
EAX_KERNEL(256, 1, eax_stage) { eax::update(all, plan, blockIdx.x); }
