// The first tours of a population: randomised constructions of several kinds, improved by 2-opt and
// Or-opt. All threads of a block create one tour. Reads the problem and the neighbours; writes a
// tour and its positions. Random streams: GREEDY.
#pragma once

#include "eax/base.cuh"
#include "encodings/permutation.cuh"
#if ENCODING_DOUBLED
#include "tours/assignment.cuh"
#endif
#include "tours/curve.cuh"
#include "tours/greedy.cuh"
#include "tours/local_search.cuh"
#include "tours/nearest.cuh"

namespace eax {

constexpr int FEWEST_CITIES = 4;     // fewer have only one tour
constexpr int MOST_ASSIGNED = 2000;  // in a mixture, assignments of more cities take too long

// Write a tour along a curve.
__device__ void make_curve(const problem::Data& data, const Plan& plan, int n, uint4 key,
                           int32_t* work, int32_t* order) {
    // `work` has room for the sort, fewer than 2 n words, as WORK is above 4; the pitch aligns
    // them.
    tours::follow_curve(data, n, plan.frame, key, reinterpret_cast<uint64_t*>(work), order);
}

// Write a tour in random order, keeping joined cities adjacent.
__device__ void make_random(const problem::Data& data, const encoding::Shape& shape,
                            const draw::Place& place, int32_t* work, int32_t* order) {
    encoding::fill(order, shape, place, stream::GREEDY);
#if TSP_METRIC == TSP_LEGS
    const int n = shape.n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) work[i] = order[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0, next = 0; i < n; ++i) {
            const int city = work[i], partner = city ^ 1;
            if (!problem::is_joined(data, n, city)) {
                order[next++] = city;
            } else if (city < partner) {
                order[next++] = city;
                order[next++] = partner;
            }
        }
    }
    __syncthreads();
#endif
}

// Write a tour without local search; return false if a stop was requested. If the tour `is_needed`,
// construct a quick one in that case.
__device__ bool make_tour(const problem::Data& data, const Plan& plan,
                          const improver::Plan& improving, const encoding::Shape& shape,
                          const draw::Place& place, int64_t number, int32_t* order,
                          bool is_needed) {
    int32_t* const work = plan.work + number * WORK * shape.pitch;
    const uint4 key = place.words(stream::GREEDY, 0);
    const tours::RandomLengths lengths{data, shape.n, key, uint32_t(plan.spread)};
    // Two kinds alternate, as tours of one kind can all lack the same edges, such as those between
    // clusters.
    const int other = ENCODING_DOUBLED && shape.n <= 2 * MOST_ASSIGNED ? ASSIGNMENT : NEAREST;
    const int mixed = place.individual % 2 ? other : GREEDY;
    bool is_made = true;
    switch (plan.first_tours == MIXED ? mixed : plan.first_tours) {
        case CURVE:
            make_curve(data, plan, shape.n, key, work, order);
            break;
        case NEAREST:
            is_made = tours::Nearest(lengths, plan.near, work, shape.pitch).run(improving, order);
            break;
        case RANDOM:
            make_random(data, shape, place, work, order);
            break;
#if ENCODING_DOUBLED
        case ASSIGNMENT:
            is_made =
                tours::Assignment(lengths, plan.near, work, shape.pitch).run(improving, order);
            break;
#endif
        default: {
            const tours::Paths paths(work, shape.pitch);
            is_made = tours::Greedy(lengths, plan.near, paths).run(improving, order);
        }
    }
    if (is_made || !is_needed) return is_made;
    __syncthreads();
    if (plan.frame[2] > 0.0) {
        make_curve(data, plan, shape.n, key, work, order);
    } else {
        make_random(data, shape, place, work, order);
    }
    return true;
}

// Create the individual of a slot, or only evaluate it if it is given. If it `is_needed`, create it
// even if a stop was requested.
__device__ void make_first(const Islands& all, const problem::Data& data, const Plan& plan,
                           const improver::Plan& improving, Scratch scratch, int local, int slot,
                           int64_t generation, bool is_given, bool is_needed) {
    const int n = all.shape.n;
    const int32_t row = all.row(generation, local, slot);
    const int64_t number = all.number(local, slot), pitch = all.shape.pitch;
    int32_t* const order = all.genes_of(row);
    if (!is_given) {
        const draw::Place place = all.place(local, generation, slot);
        if (!make_tour(data, plan, improving, all.shape, place, number, order, is_needed)) return;
    }
    const tours::Tour<Position> tour{order, plan.position + number * pitch, n, data};
    tour.locate();
    int64_t tried = 0;
    int32_t* const work = plan.work + number * WORK * pitch;  // free again
    if (plan.is_outside) scratch = Scratch(reinterpret_cast<char*>(work));
    const tours::SearchMemory memory(scratch, n);
    if (!is_given && n >= FEWEST_CITIES) {
        tours::LocalSearch(tour, plan.near, memory).run(improving, 0, false, tried);
    }
    __syncthreads();
    const int64_t cost = problem::cost(encoding::Order{order}, n, data);
    if (threadIdx.x == 0) all.cost[row] = cost;
    all.count(local, slot, 1);
}

}  // namespace eax
